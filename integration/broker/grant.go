package broker

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
)

// Grant is a right on one topic or one transactional id, by its exact name. Kafka's WRITE carries DESCRIBE with it.
type Grant struct {
	Topic, ID           string
	Write, DenyDescribe bool
}

func (g Grant) resource() *kadm.ACLBuilder {
	acl := kadm.NewACLs().ResourcePatternType(kadm.ACLPatternLiteral)
	if g.Topic != "" {
		acl.Topics(g.Topic)
	}
	if g.ID != "" {
		acl.TransactionalIDs(g.ID)
	}
	return acl
}

// Allow gives user rights; the broker needs an authorizer.
func (b *Broker) Allow(ctx context.Context, user string, grants ...Grant) error {
	adm, err := b.admin()
	if err != nil {
		return err
	}
	defer adm.Close()
	for _, g := range grants {
		acl := g.resource()
		if g.Write {
			acl.Allow("User:" + user).AllowHosts().Operations(kadm.OpWrite)
		}
		if g.DenyDescribe {
			acl.Deny("User:" + user).DenyHosts().Operations(kadm.OpDescribe)
		}
		results, err := adm.CreateACLs(ctx, acl)
		if err != nil {
			return fmt.Errorf("granting %+v to %s: %w", g, user, err)
		}
		for _, r := range results {
			if r.Err != nil {
				return fmt.Errorf("granting %+v to %s: %w", g, user, r.Err)
			}
		}
	}
	return nil
}

// Revoke takes back the right to write that Allow gave.
func (b *Broker) Revoke(ctx context.Context, user string, g Grant) error {
	adm, err := b.admin()
	if err != nil {
		return err
	}
	defer adm.Close()
	results, err := adm.DeleteACLs(ctx, g.resource().Allow("User:"+user).AllowHosts().Operations(kadm.OpWrite))
	if err != nil {
		return fmt.Errorf("taking %+v from %s: %w", g, user, err)
	}
	deleted := 0
	for _, r := range results {
		if r.Err != nil {
			return fmt.Errorf("taking %+v from %s: %w", g, user, r.Err)
		}
		deleted += len(r.Deleted)
	}
	if deleted == 0 {
		return fmt.Errorf("taking %+v from %s: there is no such right", g, user)
	}
	return nil
}
