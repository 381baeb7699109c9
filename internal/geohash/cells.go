package geohash

import "math"

// mercator is half the Earth's equator in meters on the map. A search this wide uses the coarsest
// cells.
const mercator = 20037726.37

// cell is a square of the grid of 2^step by 2^step. x or y is 2^step if the center of a search is
// on the upper bound of a coordinate.
type cell struct {
	x, y uint32
	step uint
}

func cellAt(lon, lat float64, step uint) cell {
	return cell{scale(lon, MaxLon, step), scale(lat, MaxLat, step), step}
}

// move returns the cell dx columns and dy rows further, around the grid's ends. A coordinate that
// does not move stays as it is.
func (c cell) move(dx, dy int) cell {
	mask := uint32(1)<<c.step - 1
	if dx != 0 {
		c.x = (c.x + uint32(dx)) & mask
	}
	if dy != 0 {
		c.y = (c.y + uint32(dy)) & mask
	}
	return c
}

// rect returns the cell's part of the finest grid.
func (c cell) rect() rect {
	n := steps - c.step
	return rect{c.x << n, (c.x+1)<<n - 1, c.y << n, (c.y+1)<<n - 1}
}

// edges returns the cell's bounds in degrees.
func (c cell) edges() (west, east, south, north float64) {
	n := float64(uint64(1) << c.step)
	at := func(i uint32, bound float64) float64 { return -bound + float64(float64(i)/n*(2*bound)) }
	return at(c.x, MaxLon), at(c.x+1, MaxLon), at(c.y, MaxLat), at(c.y+1, MaxLat)
}

// stepFor returns how fine Redis's cells are for a search of that radius in meters. As a rule a
// cell is wider than the radius.
func stepFor(meters, lat float64) uint {
	if meters == 0 {
		return steps
	}
	step := -1
	for m := meters; m < mercator; m *= 2 {
		step++
	}
	if lat = math.Abs(lat); lat > 66 {
		step--
		if lat > 80 {
			step--
		}
	}
	return uint(min(max(step, 1), steps))
}

// bounds are in degrees, as Redis estimates them to choose cells: inexact, and beyond the map near
// its ends.
type bounds struct{ west, south, east, north float64 }

// estimate returns Redis's estimate of the bounds of a box around a place. Half width and half
// height are in meters.
func estimate(lon, lat, halfW, halfH float64) bounds {
	dlat := degrees(halfH / radius)
	edge := lat + dlat
	if lat < 0 {
		edge = lat - dlat
	}
	dlon := degrees(halfW / radius / math.Cos(radians(edge)))
	return bounds{lon - dlon, lat - dlat, lon + dlon, lat + dlat}
}

// around returns the cells that Redis searches, in its order: the center's, and those of its
// neighbours that the estimated bounds reach.
func around(lon, lat, meters float64, b bounds) (cells [9]cell, n int) {
	step := stepFor(meters, lat)
	center := cellAt(lon, lat, step)
	if step > 1 && !reaches(center, b) {
		step--
		center = cellAt(lon, lat, step)
	}
	west, east, south, north := center.edges()
	all := step < 2
	goes := func(dx, dy int) bool {
		return all || !(dy < 0 && south < b.south || dy > 0 && north > b.north ||
			dx < 0 && west < b.west || dx > 0 && east > b.east)
	}
	for _, d := range [9][2]int{{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1},
		{-1, -1}} {
		if goes(d[0], d[1]) {
			cells[n] = center.move(d[0], d[1])
			n++
		}
	}
	return cells, n
}

// reaches reports whether the neighbours of a cell reach the bounds in all directions.
func reaches(center cell, b bounds) bool {
	_, _, _, north := center.move(0, 1).edges()
	_, _, south, _ := center.move(0, -1).edges()
	_, east, _, _ := center.move(1, 0).edges()
	west, _, _, _ := center.move(-1, 0).edges()
	return !(north < b.north || south > b.south || east < b.east || west > b.west)
}
