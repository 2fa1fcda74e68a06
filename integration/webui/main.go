// Command webui opens a vertex of a running job in Flink's web UI, as a person does, in a headless Chromium; makes sure that the operator's
// name and metrics that count stand there, and leaves a picture of the page. `make web-ui-check` runs it. A module of its own, so that
// nobody who builds Penstock gets a browser's client.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	width  = 1600
	height = 1400
	// visit is how long one look at the page may take.
	visit = 30 * time.Second
)

// question is what the page is asked.
type question struct {
	address  string
	operator string
	metrics  []string
	picture  string
}

func main() {
	browser := flag.String("chromium", "", "the browser's program")
	timeout := flag.Duration("timeout", 2*time.Minute, "after which the page is given up")
	var q question
	flag.StringVar(&q.address, "page", "", "address of the vertex's metrics in the web UI")
	flag.StringVar(&q.operator, "operator", "", "what the vertex's name must contain")
	flag.StringVar(&q.picture, "picture", "", "the file that gets the picture")
	metrics := flag.String("metrics", "", "ends of the names of metrics that must be above 0, with commas between")
	flag.Parse()
	q.metrics = strings.Split(*metrics, ",")
	if err := check(*browser, *timeout, q); err != nil {
		fmt.Fprintln(os.Stderr, "webui:", err)
		os.Exit(1)
	}
}

// check runs the browser. What the page showed when it had to be given up stays as the picture.
func check(browser string, timeout time.Duration, q question) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout+30*time.Second)
	defer cancel()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.WindowSize(width, height))
	if os.Geteuid() == 0 { // Chromium's sandbox refuses root
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	defer cancel()
	tab, cancel := chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(tab); err != nil {
		return fmt.Errorf("cannot start %s: %w", browser, err)
	}
	err := ask(tab, timeout, q)
	picture, shotErr := chromedp.Run(tab, chromedp.CaptureScreenshot())
	if shotErr != nil {
		return fmt.Errorf("no picture: %w (%v)", shotErr, err)
	}
	if writeErr := os.WriteFile(q.picture, picture, 0o644); writeErr != nil {
		return writeErr
	}
	return err
}

// ask opens the page until it has everything: it looks once for the metrics that there are to choose, and the JobManager may not have
// collected them by then.
func ask(tab context.Context, timeout time.Duration, q question) error {
	for end := time.Now().Add(timeout); ; {
		ctx, cancel := context.WithTimeout(tab, min(visit, time.Until(end)))
		err := look(ctx, q)
		cancel()
		if err == nil || time.Until(end) < pause {
			return err
		}
	}
}

// look is one visit.
func look(ctx context.Context, q question) error {
	p := page{ctx}
	// Navigating to the fragment of a page that is open would load nothing.
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(q.address)); err != nil {
		return fmt.Errorf("%s: %w", q.address, err)
	}
	name, err := p.operator(q.operator)
	if err != nil {
		return err
	}
	fmt.Println("operator:", name)
	for _, metric := range q.metrics {
		value, err := p.metric(metric)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %s\n", metric, value)
	}
	return nil
}
