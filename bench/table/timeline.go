package main

import (
	"fmt"
	"html"
	"strings"
)

const (
	panelHeight = 84
	panelGap    = 26
	panelWidth  = 560
)

// timeline draws the figures of a soak over time, one panel a figure, each from zero.
func timeline(list []moment) string {
	panels := []struct {
		title string
		of    func(moment) float64
	}{
		{"spawned runs per second, verdicts among them", moment.runsOf},
		{"runs of the persistent hook per second", moment.keptOf},
		{"verdicts per second", moment.verdictsOf},
		{"events without a hook per second", moment.linesOf},
		{"resident memory, MiB", moment.memoryOf},
		{"descriptors", moment.descriptorsOf},
	}
	var b strings.Builder
	height := plotTop + len(panels)*(panelHeight+panelGap)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" `+
		`font-size="11" fill="#333">`+"\n", panelWidth+plotLeft+plotRight, height)
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	last := list[len(list)-1].at
	for i, p := range panels {
		top, most := plotTop+i*(panelHeight+panelGap), 0.0
		for _, m := range list {
			most = max(most, p.of(m))
		}
		var points []point
		for _, m := range list {
			points = append(points, point{m.at, p.of(m)})
		}
		at := func(q point) (x, y float64) {
			return plotLeft + panelWidth*q.x/last, float64(top) + panelHeight*(1-q.y/max(most, 1)/1.1)
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text><path d="M%d %d v%d h%d" fill="none" stroke="#ccc"/>`+"\n",
			plotLeft, top-4, html.EscapeString(p.title), plotLeft, top, panelHeight, panelWidth)
		_, y := at(point{0, most})
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text><text x="%d" y="%d" text-anchor="end">0</text>`+"\n",
			plotLeft-6, y+4, count(most), plotLeft-6, top+panelHeight+4)
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="#06c" stroke-width="1.5"/>`+"\n", path(at, points...))
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%.0f min</text>`+"\n</svg>\n", plotLeft+panelWidth, height-panelGap+14, last)
	return b.String()
}
