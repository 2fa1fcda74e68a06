package dev.penstock.integration.soak;

import java.util.List;
import java.util.Locale;

/**
 * The straight line through the second half of a series, by least squares: what grows with every repetition shows in
 * its slope, what a process takes once does not.
 *
 * @param first value of the line at the beginning of the second half
 * @param last value of the line at its end
 */
record Trend(double first, double last, double perThousand) {

    /** One value of a series, after so many repetitions of what may leak: checkpoints, jobs. */
    record Point(long repetitions, double value) {}

    /** At least four points, of different numbers of repetitions. */
    static Trend ofSecondHalf(List<Point> all) {
        List<Point> points = all.subList(all.size() / 2, all.size());
        double meanX = points.stream().mapToDouble(Point::repetitions).average().orElseThrow();
        double meanY = points.stream().mapToDouble(Point::value).average().orElseThrow();
        double covariance = 0;
        double variance = 0;
        for (Point point : points) {
            covariance += (point.repetitions - meanX) * (point.value - meanY);
            variance += (point.repetitions - meanX) * (point.repetitions - meanX);
        }
        if (variance == 0) {
            throw new IllegalArgumentException("no line through " + points);
        }
        double slope = covariance / variance;
        return new Trend(meanY + slope * (points.get(0).repetitions - meanX),
                meanY + slope * (points.get(points.size() - 1).repetitions - meanX), 1000 * slope);
    }

    /** Whether the line rises by more than both allowances over the second half. */
    boolean grows(double allowance, double share) {
        return last - first > Math.max(allowance, share * first);
    }

    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%.1f to %.1f, %+.2f for each 1000", first, last, perThousand);
    }
}
