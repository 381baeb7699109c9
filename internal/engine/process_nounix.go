//go:build !unix

package engine

func processTimes() (user, sys float64) { return 0, 0 }

func childTimes() (user, sys float64) { return 0, 0 }
