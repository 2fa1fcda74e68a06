//go:build faultpoints

package faultpoint

import (
	"context"

	"penstock.dev/penstock/kafka/producer"
)

// Engine puts the places of a producer's life around an engine.
func Engine(e producer.Engine) producer.Engine { return engine{e} }

type engine struct{ producer.Engine }

func (e engine) Init(ctx context.Context, cfg producer.Config, id string) (producer.Ready, error) {
	if err := Hit(InInit); err != nil {
		return nil, err
	}
	r, err := e.Engine.Init(ctx, cfg, id)
	if err != nil {
		return nil, err
	}
	return ready{r}, nil
}

type ready struct{ producer.Ready }

func (r ready) Begin() (producer.Open, error) {
	o, err := r.Ready.Begin()
	if err != nil {
		return nil, err
	}
	if err := Hit(AfterBegin); err != nil {
		o.Discard()
		return nil, err
	}
	return open{o}, nil
}

func (r ready) Discard() {
	destroying()
	r.Ready.Discard()
}

type open struct{ producer.Open }

// Seal hits InFlush beside the flush, and AfterFlush when it is proven.
func (o open) Seal(ctx context.Context, rows int64) (producer.Sealed, error) {
	beside := make(chan error, 1)
	go func() { beside <- Hit(InFlush) }()
	s, err := o.Open.Seal(ctx, rows)
	if fault := <-beside; err == nil {
		err = fault
	}
	if err == nil {
		err = Hit(AfterFlush)
	}
	if err != nil {
		if s != nil {
			s.Release()
		}
		return nil, err
	}
	return sealed{s}, nil
}

func (o open) Abort(ctx context.Context) error {
	destroying()
	return o.Open.Abort(ctx)
}

func (o open) Discard() {
	destroying()
	o.Open.Discard()
}

type sealed struct{ producer.Sealed }

func (s sealed) Release() {
	destroying()
	s.Sealed.Release()
}

// destroying is the place before a producer is given up, which cannot fail.
func destroying() { _ = Hit(InDestroy) }
