package epoch

import "time"

// Calm sets how long the next warm-up lets other seals go first.
func Calm(w *Writer, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calm = d
}
