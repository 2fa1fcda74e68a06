package encode

import (
	"fmt"
	"slices"
)

// TopicRun is the records from First to before End, all of Topic.
type TopicRun struct {
	Topic      string
	First, End int
}

// maxTopicName is the longest name that Kafka accepts (org.apache.kafka.common.internals.Topic).
const maxTopicName = 249

// LegalTopic reports whether Kafka accepts name as a topic's.
func LegalTopic(name string) bool {
	if name == "" || name == "." || name == ".." || len(name) > maxTopicName {
		return false
	}
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func (p *RecordPlan) compileTopics() error {
	if len(p.shape.Topics) == 0 {
		return nil
	}
	p.topics = make(map[string]struct{}, len(p.shape.Topics))
	for _, name := range p.shape.Topics {
		if !LegalTopic(name) {
			return fmt.Errorf("topic %q is no name that Kafka accepts: correct the option 'topic'", name)
		}
		p.topics[name] = struct{}{}
	}
	return nil
}

// refuses says why a row may not go to a topic, "" when it may; the words are those of DynamicKafkaRecordSerializationSchema.
func (p *RecordPlan) refuses(topic string) string {
	if p.topics == nil {
		if LegalTopic(topic) {
			return ""
		}
		return fmt.Sprintf("The topic of the sink record is not valid. Kafka accepts 1 to %d letters, digits, '.', '_' and '-' "+
			"but the topic was: %q", maxTopicName, topic)
	}
	if _, ok := p.topics[topic]; ok {
		return ""
	}
	return fmt.Sprintf("The topic of the sink record is not valid. Expected topic to be in: %s but was: %s", p.topicList, topic)
}

// maxKnownTopics bounds the names that a topicGrouper remembers from one batch to the next.
const maxKnownTopics = 10_000

// topicGrouper puts the rows of a batch in the order of their topics. The zero value is ready.
type topicGrouper struct {
	// known has a number for each name that was seen.
	known map[string]uint32
	names []string
	// of has the number of each row's topic.
	of []uint32
	// count and next are by number: the rows of this batch, and where its next row goes.
	count, next []uint32
	// order is the rows, topic by topic.
	order []uint32
	// runs are the topics in the order of their first rows.
	runs []TopicRun
}

// reset prepares for a batch.
func (g *topicGrouper) reset() {
	if g.known == nil || len(g.names) > maxKnownTopics {
		*g = topicGrouper{known: map[string]uint32{}, of: g.of, order: g.order, runs: g.runs}
	}
	clear(g.count)
	g.of, g.runs = g.of[:0], g.runs[:0]
}

// add takes the topic of the next row; ok is false when the name is new and must be checked and learned first.
func (g *topicGrouper) add(name []byte) (ok bool) {
	number, ok := g.known[string(name)]
	if !ok {
		return false
	}
	if g.count[number] == 0 {
		g.runs = append(g.runs, TopicRun{Topic: g.names[number]})
	}
	g.count[number]++
	g.of = append(g.of, number)
	return true
}

func (g *topicGrouper) learn(name string) {
	g.known[name] = uint32(len(g.names))
	g.names = append(g.names, name)
	g.count, g.next = append(g.count, 0), append(g.next, 0)
}

// finish bounds the runs and returns the rows in their order, nil when that is the order they have.
func (g *topicGrouper) finish() []uint32 {
	at := 0
	for i := range g.runs {
		r := &g.runs[i]
		number := g.known[r.Topic]
		r.First, g.next[number] = at, uint32(at)
		at += int(g.count[number])
		r.End = at
	}
	if len(g.runs) < 2 {
		return nil
	}
	g.order = slices.Grow(g.order[:0], len(g.of))[:len(g.of)]
	for row, number := range g.of {
		g.order[g.next[number]] = uint32(row)
		g.next[number]++
	}
	return g.order
}
