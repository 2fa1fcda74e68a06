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

// Allow gives user rights; the broker needs an authorizer.
func (b *Broker) Allow(ctx context.Context, user string, grants ...Grant) error {
	adm, err := b.admin()
	if err != nil {
		return err
	}
	defer adm.Close()
	for _, g := range grants {
		acl := kadm.NewACLs().ResourcePatternType(kadm.ACLPatternLiteral)
		if g.Topic != "" {
			acl.Topics(g.Topic)
		}
		if g.ID != "" {
			acl.TransactionalIDs(g.ID)
		}
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
