//go:build windows || plan9

package logging

import "errors"

func openSyslog(_, _ string) (sink, error) {
	return nil, errors.New("this system has no syslog")
}
