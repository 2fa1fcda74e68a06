package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

const pause = 200 * time.Millisecond

// Elements of Flink's web UI.
const (
	vertexNames  = "flink-job-overview-list td.name"
	searchMetric = chromedp.CSS(".metric-selector nz-select input")
	foundMetrics = ".ant-select-item-option-content span"
)

// page is a vertex of a job with the tab of its metrics open.
type page struct {
	ctx context.Context
}

// texts are those of all elements that a selector finds.
func (p page) texts(selector string) ([]string, error) {
	script := fmt.Sprintf("[...document.querySelectorAll(%q)].map(e => e.textContent.trim())", selector)
	return chromedp.Run(p.ctx, chromedp.Evaluate[[]string](script))
}

// await asks for texts until one is accepted, and says what was there when the time is over.
func (p page) await(selector, what string, accept func(string) bool) (string, error) {
	var last []string
	for {
		found, err := p.texts(selector)
		for _, text := range found {
			if accept(text) {
				return text, nil
			}
		}
		if err == nil {
			last = found
		}
		select {
		case <-p.ctx.Done():
			return "", fmt.Errorf("the page shows no %s; at %q it has %q (%w)", what, selector, last, p.ctx.Err())
		case <-time.After(pause):
		}
	}
}

// operator waits until the list of vertices has a name that contains the word.
func (p page) operator(word string) (string, error) {
	return p.await(vertexNames, fmt.Sprintf("vertex named %q", word), func(text string) bool { return strings.Contains(text, word) })
}

// metric adds a metric to the page by its selector, as a person does, and waits until its number is above 0.
func (p page) metric(end string) (string, error) {
	err := chromedp.Do(p.ctx, chromedp.Click(searchMetric), chromedp.SendKeys(searchMetric, end))
	if err != nil {
		return "", fmt.Errorf("the page has no selector of metrics: %w", err)
	}
	name, err := p.await(foundMetrics, "metric to choose that ends in "+end, func(text string) bool { return strings.HasSuffix(text, "."+end) })
	if err != nil {
		return "", err
	}
	if err := chromedp.Do(p.ctx, chromedp.Click(chromedp.CSS(fmt.Sprintf("%s[title=%q]", foundMetrics, name)))); err != nil {
		return "", fmt.Errorf("the metric %s cannot be chosen: %w", name, err)
	}
	chart := fmt.Sprintf("flink-job-chart:has(.text[title=%q])", name)
	if err := p.press(chart + " .type-switch button:nth-of-type(2)"); err != nil {
		return "", fmt.Errorf("the metric %s cannot be shown as a number: %w", name, err)
	}
	return p.await(chart+" .numeric", "number above 0 of "+name, aboveZero)
}

// press waits for a button and presses it by the page's own means: a chart is drawn anew while its button is being looked for.
func (p page) press(selector string) error {
	script := fmt.Sprintf("(b => b ? (b.click(), true) : false)(document.querySelector(%q))", selector)
	for {
		if done, err := chromedp.Run(p.ctx, chromedp.Evaluate[bool](script)); done || err != nil {
			return err
		}
		select {
		case <-p.ctx.Done():
			return p.ctx.Err()
		case <-time.After(pause):
		}
	}
}

// aboveZero understands what the page writes, such as 12,345 or 32.0 MB.
func aboveZero(text string) bool {
	number, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), " ")
	value, err := strconv.ParseFloat(number, 64)
	return err == nil && value > 0
}
