package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// plot is a small picture of some points on two logarithmic scales.
type plot struct {
	file, title, x, y string
	points            []point
	flat              bool // the dashed line is flat, else it grows in proportion
}

type point struct{ x, y float64 }

const (
	plotWidth, plotHeight  = 420, 240
	plotLeft, plotBottom   = 56, 40
	plotRight, plotTop     = 16, 28
	plotInnerX, plotInnerY = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
)

// svg draws the plot, with the line that the points should follow dashed.
func (p plot) svg() string {
	lowX, highX := decades(p.points[0].x, p.points[len(p.points)-1].x)
	lowY, highY := math.Inf(1), 0.0
	for _, q := range p.points {
		lowY, highY = min(lowY, q.y), max(highY, q.y)
	}
	fromY, toY := decades(lowY, highY)
	if fromY == toY {
		toY++
	}
	at := func(q point) (x, y float64) {
		x = plotLeft + plotInnerX*(math.Log10(q.x)-float64(lowX))/float64(highX-lowX)
		y = plotTop + plotInnerY*(float64(toY)-math.Log10(q.y))/float64(toY-fromY)
		return x, min(max(y, plotTop), plotTop+plotInnerY)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11" fill="#333">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="#fff"/><text x="%d" y="16">%s</text>`+"\n", plotLeft, html.EscapeString(p.title))
	for e := lowX; e <= highX; e++ {
		x, _ := at(point{math.Pow10(e), 1})
		fmt.Fprintf(&b, `<path d="M%.1f %d v%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x, plotTop, plotInnerY, x, plotHeight-plotBottom+14, count(math.Pow10(e)))
	}
	for e := fromY; e <= toY; e++ {
		_, y := at(point{p.points[0].x, math.Pow10(e)})
		fmt.Fprintf(&b, `<path d="M%d %.1f h%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%g %s</text>`+"\n",
			plotLeft, y, plotInnerX, plotLeft-6, y+4, math.Pow10(e), html.EscapeString(p.y))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", plotLeft+plotInnerX/2, plotHeight-8, html.EscapeString(p.x))
	first, last := p.points[0], p.points[len(p.points)-1]
	end := point{last.x, first.y}
	if !p.flat {
		end.y = first.y * last.x / first.x
	}
	fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#999" stroke-dasharray="4 3"/>`+"\n", path(at, first, end))
	fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#06c" stroke-width="2"/>`+"\n", path(at, p.points...))
	for _, q := range p.points {
		x, y := at(q)
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="#06c"/><text x="%.1f" y="%.1f" text-anchor="middle">%.3g</text>`+"\n", x, y, x, y-8, q.y)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func path(at func(point) (x, y float64), points ...point) string {
	var b strings.Builder
	for i, q := range points {
		x, y := at(q)
		fmt.Fprintf(&b, "%c%.1f %.1f ", "ML"[min(i, 1)], x, y)
	}
	return strings.TrimSpace(b.String())
}

// decades are the powers of ten that enclose a range.
func decades(low, high float64) (from, to int) {
	return int(math.Floor(math.Log10(low) + 1e-9)), int(math.Ceil(math.Log10(high) - 1e-9))
}
