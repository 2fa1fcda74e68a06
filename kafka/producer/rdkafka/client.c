/*
 * A producer over librdkafka that counts on its own: acknowledgements never leave C, a whole batch is enqueued by one
 * call, and every wait has a deadline and can be cancelled. See penstock_rdkafka.h for what each function promises.
 *
 * Acknowledged records are counted where the library learns of them, on the thread of the broker's connection
 * (on_acknowledgement), and it frees them there. Only failures become reports, which our poll thread reads. So a flush
 * has nothing to serve: it sleeps until the library has no record left, and that thread wakes it up.
 */
#include "penstock_rdkafka.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How many messages one rd_kafka_produce_batch call gets: 1024 * 72 bytes stay in the second-level cache. */
#define CHUNK 1024
/* Levels of syslog. */
#define PS_LOG_WARNING 4
#define PS_LOG_DEBUG 7
/* The longest uninterrupted wait inside the library, which cannot be cancelled by us. */
#define SLICE_MS 200
/* How long one ps_hurry keeps records from lingering, at most. */
#define HURRY_MS 10
/* How long a producing thread waits for room before it tries again unasked. */
#define ROOM_MS 5

struct ps_client {
        rd_kafka_t *rk;
        rd_kafka_queue_t *main_queue;
        uintptr_t log_handle;
        uintptr_t dial_handle;

        pthread_t poller;
        int poller_started;

        atomic_int_fast64_t accepted;
        atomic_int_fast64_t acked;
        atomic_int_fast64_t failed;
        /* Bytes of all records that were enqueued and of those that were reported; what is between them waits. Only the producing
           thread changes the first. */
        atomic_int_fast64_t taken;
        atomic_int_fast64_t given;
        atomic_int fatal_raised;
        atomic_int refused;
        atomic_int warned; /* the library has logged a warning, or worse, since the transaction began */
        atomic_int cancelled;
        atomic_int ending; /* connections are cut on purpose from now on */
        atomic_int stopping;
        atomic_int hurried; /* the poll thread is asked to flush */
        atomic_int waiting; /* a producing thread waits for room; taken back by who wakes it up */

        /* mu guards everything below. Never held while a library call runs. */
        pthread_mutex_t mu;
        pthread_cond_t changed;
        int identity_seen;
        int64_t producer_id;
        int producer_epoch;
        ps_result first_failure;
        ps_result last_error;
        ps_result refusal;

        /* Owned by the one producing thread. */
        rd_kafka_message_t chunk[CHUNK];
};

/* Implemented in Go (log.go). */
extern void psLog(uintptr_t handle, int level, char *facility, char *text);
/* Implemented in Go (relay.go). */
extern int psDial(uintptr_t handle, int fd, void *addr, int addrlen);

int ps_check_version(void) {
        int v = rd_kafka_version();
        return v == PS_RDKAFKA_VERSION ? 0 : v;
}

static int64_t now_ms(void) {
        struct timespec ts;
        clock_gettime(CLOCK_MONOTONIC, &ts);
        return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static struct timespec at_ms(int64_t ms) {
        struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000};
        return ts;
}

static void set_result(ps_result *r, int code, const char *text) {
        memset(r, 0, sizeof(*r));
        r->code = code;
        snprintf(r->text, sizeof(r->text), "%s", text ? text : rd_kafka_err2str(code));
}

/* Moves what error says into r and frees it; NULL is success. */
static void take_error(ps_result *r, rd_kafka_error_t *error) {
        if (!error) {
                memset(r, 0, sizeof(*r));
                return;
        }
        set_result(r, rd_kafka_error_code(error), rd_kafka_error_string(error));
        r->fatal     = rd_kafka_error_is_fatal(error);
        r->retriable = rd_kafka_error_is_retriable(error);
        rd_kafka_error_destroy(error);
}

/* ---- what became of records ---- */

/* Gives the room of size bytes back. Any thread. */
static void give_room(ps_client *c, int64_t size) {
        atomic_fetch_add(&c->given, size);
        if (atomic_load(&c->waiting) && atomic_exchange(&c->waiting, 0)) {
                pthread_mutex_lock(&c->mu);
                pthread_cond_broadcast(&c->changed);
                pthread_mutex_unlock(&c->mu);
        }
}

/*
 * Interceptor: every record that is done with, on the thread that knows first, mostly a broker's. A record with an error is left to
 * its report, or was refused by a call of ours that has the error from that call. Where a broker names single records that are
 * bad, the library calls this without the errors and reports them later; such a record is then counted on both sides, and an epoch
 * with a failed record is never sealed.
 */
static rd_kafka_resp_err_t on_acknowledgement(rd_kafka_t *rk, rd_kafka_message_t *m, void *opaque) {
        ps_client *c = opaque;
        (void)rk;
        if (m->err == PS_ERR_NO_ERROR) {
                atomic_fetch_add(&c->acked, 1);
                give_room(c, (intptr_t)m->_private);
        }
        return PS_ERR_NO_ERROR;
}

/* The failure of one record makes the library purge the others, and the reports may come in any order. */
static int is_consequence(int code) {
        return code == PS_ERR_PURGE_QUEUE || code == PS_ERR_PURGE_INFLIGHT;
}

/* The report of one record; of the records in it only those with an error are failures. */
static void on_report(ps_client *c, const rd_kafka_message_t *m) {
        if (m->err == PS_ERR_NO_ERROR)
                return;
        pthread_mutex_lock(&c->mu);
        if (c->first_failure.code == 0 || (is_consequence(c->first_failure.code) && !is_consequence(m->err))) {
                set_result(&c->first_failure, m->err, NULL);
                snprintf(c->first_failure.topic, sizeof(c->first_failure.topic), "%s",
                         m->rkt ? rd_kafka_topic_name(m->rkt) : "");
        }
        pthread_mutex_unlock(&c->mu);
        /* After the text, so that who sees the count finds the text. */
        atomic_fetch_add(&c->failed, 1);
        give_room(c, (intptr_t)m->_private);
}

/* ---- what became of the client ---- */

/*
 * Whether a broker, or our judgement of its certificate, refuses the client for good; Kafka's Java client ends its producer then, too.
 * A handshake that is merely cut short and a token that could not be had now may go better the next time. Returns PS_ERR_AUTHENTICATION,
 * PS_ERR_SSL or 0. In TLS 1.3 the alert about the client's certificate comes after the handshake, as the error of an ordinary read.
 */
static int refusal(int code, const char *reason) {
        static const char *texts[] = {"certificate verify failed", "alert certificate", "alert bad certificate",
                                      "alert unsupported certificate", "alert unknown ca", "alert access denied"};
        if (code == PS_ERR_AUTHENTICATION)
                return strstr(reason, "acquire SASL OAUTHBEARER token") ? 0 : code;
        for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
                if (strstr(reason, texts[i]))
                        return PS_ERR_SSL;
        return 0;
}

static void on_error(ps_client *c, int err, int fatal, const char *reason) {
        int refused = refusal(err, reason);
        pthread_mutex_lock(&c->mu);
        /* That all are down tells less than why the last one was. */
        if (err != PS_ERR_ALL_BROKERS_DOWN || c->last_error.code == 0)
                set_result(&c->last_error, err, reason);
        if (refused && c->refusal.code == 0)
                set_result(&c->refusal, refused, reason);
        pthread_mutex_unlock(&c->mu);
        if (refused)
                atomic_store(&c->refused, 1);
        if (fatal)
                atomic_store(&c->fatal_raised, 1);
}

/* The library's name for the broker whose connection carries InitProducerId, AddPartitionsToTxn and EndTxn, and no records. */
#define COORDINATOR "TxnCoordinator"

/* Whether the broker of this thread is the coordinator. on_connect gets an address only, and is called by the broker's own thread
   after that has announced that it connects. */
static _Thread_local int of_coordinator;

static int on_connect(int fd, const struct sockaddr *addr, int addrlen, const char *id, void *opaque) {
        ps_client *c = opaque;
        (void)id;
        if (c->dial_handle && of_coordinator)
                return psDial(c->dial_handle, fd, (void *)addr, addrlen);
        return connect(fd, addr, (socklen_t)addrlen) == 0 || errno == EINPROGRESS ? 0 : errno;
}

static rd_kafka_resp_err_t on_broker_state(rd_kafka_t *rk, int32_t id, const char *secproto, const char *name, int port,
                                           const char *state, void *opaque) {
        (void)rk, (void)id, (void)secproto, (void)port, (void)state, (void)opaque;
        of_coordinator = strcmp(name, COORDINATOR) == 0;
        return PS_ERR_NO_ERROR;
}

static rd_kafka_resp_err_t on_new(rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *opaque, char *text, size_t size) {
        ps_client *c = opaque;
        int err      = rd_kafka_interceptor_add_on_acknowledgement(rk, "penstock", on_acknowledgement, c);
        (void)conf, (void)text, (void)size;
        if (err || !c->dial_handle)
                return err;
        return rd_kafka_interceptor_add_on_broker_state_change(rk, "penstock", on_broker_state, opaque);
}

static void on_log(const rd_kafka_t *rk, int level, const char *fac, const char *buf) {
        ps_client *c = rd_kafka_opaque(rk);
        if (c && level <= PS_LOG_WARNING)
                atomic_store(&c->warned, 1);
        if (c)
                psLog(c->log_handle, atomic_load(&c->ending) ? PS_LOG_DEBUG : level, (char *)fac, (char *)buf);
}

/*
 * Reads the client's own idea of its identity out of the "eos" object, which the library writes last. Nothing in a JSON
 * string can look like the quoted names below, because a quote inside a string is escaped.
 */
static void on_stats(ps_client *c, const char *json) {
        const char *eos = NULL, *p, *q;
        int64_t id;
        int epoch;
        for (p = json; (p = strstr(p, "\"eos\":")); p++)
                eos = p;
        if (!eos || !(p = strstr(eos, "\"producer_id\":")) || !(q = strstr(eos, "\"producer_epoch\":")))
                return;
        if (sscanf(p + strlen("\"producer_id\":"), " %" SCNd64, &id) != 1 ||
            sscanf(q + strlen("\"producer_epoch\":"), " %d", &epoch) != 1 || id < 0)
                return;
        pthread_mutex_lock(&c->mu);
        c->identity_seen  = 1;
        c->producer_id    = id;
        c->producer_epoch = epoch;
        pthread_mutex_unlock(&c->mu);
}

static void on_event(ps_client *c, rd_kafka_event_t *event) {
        const rd_kafka_message_t *m;
        switch (rd_kafka_event_type(event)) {
        case RD_KAFKA_EVENT_DR:
                while ((m = rd_kafka_event_message_next(event)))
                        on_report(c, m);
                break;
        case RD_KAFKA_EVENT_ERROR:
                on_error(c, rd_kafka_event_error(event), rd_kafka_event_error_is_fatal(event),
                         rd_kafka_event_error_string(event));
                break;
        case RD_KAFKA_EVENT_STATS:
                on_stats(c, rd_kafka_event_stats(event));
                break;
        }
}

static void *poll_loop(void *arg) {
        ps_client *c = arg;
        while (!atomic_load(&c->stopping)) {
                rd_kafka_event_t *event = rd_kafka_queue_poll(c->main_queue, 1000);
                if (atomic_exchange(&c->hurried, 0))
                        rd_kafka_flush(c->rk, HURRY_MS);
                if (!event)
                        continue;
                on_event(c, event);
                /* Only now does the library let go of the records in it. */
                rd_kafka_event_destroy(event);
        }
        return NULL;
}

/* ---- life ---- */

static rd_kafka_conf_t *make_conf(ps_client *c, const char **names, const char **values, int count, ps_result *r) {
        rd_kafka_conf_t *conf = rd_kafka_conf_new();
        char text[PS_TEXT];
        for (int i = 0; i < count; i++) {
                if (rd_kafka_conf_set(conf, names[i], values[i], text, sizeof(text)) != RD_KAFKA_CONF_OK) {
                        set_result(r, -1, text);
                        rd_kafka_conf_destroy(conf);
                        return NULL;
                }
        }
        rd_kafka_conf_set_opaque(conf, c);
        rd_kafka_conf_set_events(conf, RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_STATS);
        rd_kafka_conf_set_log_cb(conf, on_log);
        rd_kafka_conf_set_connect_cb(conf, on_connect);
        rd_kafka_conf_interceptor_add_on_new(conf, "penstock", on_new, c);
        return conf;
}

ps_client *ps_new(const char **names, const char **values, int count, uintptr_t log_handle, uintptr_t dial_handle,
                  ps_result *r) {
        ps_client *c = calloc(1, sizeof(*c));
        rd_kafka_conf_t *conf;
        pthread_condattr_t attr;
        char text[PS_TEXT];

        if (!c) {
                set_result(r, -1, "out of memory");
                return NULL;
        }
        c->log_handle  = log_handle;
        c->dial_handle = dial_handle;
        pthread_mutex_init(&c->mu, NULL);
        pthread_condattr_init(&attr);
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
        pthread_cond_init(&c->changed, &attr);
        pthread_condattr_destroy(&attr);

        if (!(conf = make_conf(c, names, values, count, r))) {
                ps_destroy(c);
                return NULL;
        }
        if (!(c->rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof(text)))) {
                rd_kafka_conf_destroy(conf); /* the library takes it over only on success */
                set_result(r, -1, text);
                ps_destroy(c);
                return NULL;
        }
        c->main_queue = rd_kafka_queue_get_main(c->rk);
        if (pthread_create(&c->poller, NULL, poll_loop, c) != 0) {
                set_result(r, -1, "the operating system refused a thread for the producer");
                ps_destroy(c);
                return NULL;
        }
        c->poller_started = 1;
        memset(r, 0, sizeof(*r));
        return c;
}

rd_kafka_t *ps_handle(ps_client *c) {
        return c->rk;
}

static void stop_polling(ps_client *c) {
        pthread_mutex_lock(&c->mu);
        atomic_store(&c->stopping, 1);
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->mu);
        rd_kafka_queue_yield(c->main_queue);
        pthread_join(c->poller, NULL);
}

void ps_destroy(ps_client *c) {
        if (c->poller_started)
                stop_polling(c);
        if (c->main_queue)
                rd_kafka_queue_destroy(c->main_queue);
        if (c->rk)
                rd_kafka_destroy(c->rk);
        pthread_cond_destroy(&c->changed);
        pthread_mutex_destroy(&c->mu);
        free(c);
}

void ps_cancel(ps_client *c) {
        pthread_mutex_lock(&c->mu);
        atomic_store(&c->cancelled, 1);
        pthread_cond_broadcast(&c->changed);
        pthread_mutex_unlock(&c->mu);
}

void ps_end(ps_client *c) {
        atomic_store(&c->ending, 1);
        ps_cancel(c);
}

void ps_resume(ps_client *c) {
        atomic_store(&c->cancelled, 0);
}

int ps_failed(ps_client *c) {
        return atomic_load(&c->failed) != 0 || atomic_load(&c->fatal_raised) || atomic_load(&c->refused);
}

void ps_forget_warnings(ps_client *c) {
        atomic_store(&c->warned, 0);
}

int ps_warned(ps_client *c) {
        return atomic_load(&c->warned);
}

void ps_snapshot_get(ps_client *c, ps_snapshot *s) {
        int code;
        char text[PS_TEXT];
        memset(s, 0, sizeof(*s));
        /* failed before accepted: a record that fails in between is then at worst seen as still under way. */
        s->failed   = atomic_load(&c->failed);
        s->acked    = atomic_load(&c->acked);
        s->accepted = atomic_load(&c->accepted);
        if ((code = rd_kafka_fatal_error(c->rk, text, sizeof(text)))) {
                set_result(&s->fatal, code, text);
                s->fatal.fatal = 1;
        }
        pthread_mutex_lock(&c->mu);
        s->identity_seen  = c->identity_seen;
        s->producer_id    = c->producer_id;
        s->producer_epoch = c->producer_epoch;
        s->first_failure  = c->first_failure;
        s->last_error     = c->last_error;
        s->refusal        = c->refusal;
        pthread_mutex_unlock(&c->mu);
}

/* ---- producing ---- */

static const uint8_t nothing; /* an empty value or key needs an address, or the library takes it for null */

/*
 * Waits until more was given back than seen, which was read before the attempt that found the queue full, so that no room can have
 * appeared unnoticed; or for ROOM_MS, because the library itself makes room a moment after it has told of a record. Returns 0 when the
 * deadline passed or the call was cancelled.
 */
static int wait_for_room(ps_client *c, int64_t seen, int64_t deadline) {
        int64_t soon       = now_ms() + ROOM_MS;
        struct timespec at = at_ms(soon < deadline ? soon : deadline);
        pthread_mutex_lock(&c->mu);
        atomic_store(&c->waiting, 1);
        while (atomic_load(&c->given) == seen && !atomic_load(&c->cancelled))
                if (pthread_cond_timedwait(&c->changed, &c->mu, &at) != 0)
                        break;
        atomic_store(&c->waiting, 0);
        pthread_mutex_unlock(&c->mu);
        return !atomic_load(&c->cancelled) && now_ms() < deadline;
}

/* The address and length of record i of a column; a null has neither. */
static void field_of(const uint8_t *all, const uint32_t *offsets, const uint8_t *nulls, int64_t i, void **p,
                     size_t *len) {
        *p   = NULL;
        *len = 0;
        if (!offsets || (nulls && nulls[i >> 3] >> (i & 7) & 1))
                return;
        *len = offsets[i + 1] - offsets[i];
        *p   = (void *)(*len ? all + offsets[i] : &nothing);
}

/* What a record without a value costs at least: the library's own memory for it. */
#define BARE_RECORD 256

/* What record i, whose value has value_len bytes, counts against the limit. */
static int64_t size_of(const ps_batch *b, int64_t i, size_t value_len) {
        int64_t size = value_len ? (int64_t)value_len : BARE_RECORD;
        if (b->key_offsets)
                size += b->key_offsets[i + 1] - b->key_offsets[i];
        if (b->header_ends)
                size += b->header_offsets[2 * (size_t)b->header_ends[i + 1]] -
                        b->header_offsets[2 * (size_t)b->header_ends[i]];
        return size;
}

/* Takes room for size bytes; one record always fits into an empty queue. Delivery reports give the room back. */
static int take_room(ps_client *c, const ps_batch *b, int64_t size) {
        int64_t waiting = atomic_load(&c->taken) - atomic_load(&c->given);
        if (waiting > 0 && waiting + size > b->limit)
                return 0;
        atomic_fetch_add(&c->taken, size);
        return 1;
}

/*
 * Enqueues records from index `from` on by rd_kafka_produce_batch, which carries neither timestamps nor headers. Returns how
 * many leading records were accepted, at most CHUNK; r says why the next one was not.
 */
static int64_t produce_chunk(ps_client *c, const ps_batch *b, int64_t from, ps_result *r) {
        int64_t left = b->count - from;
        int limit    = left < CHUNK ? (int)left : CHUNK;
        int n, good, first;
        for (n = 0; n < limit; n++) {
                rd_kafka_message_t *m = &c->chunk[n];
                int64_t size;
                memset(m, 0, sizeof(*m));
                field_of(b->values, b->value_offsets, b->value_nulls, from + n, &m->payload, &m->len);
                field_of(b->keys, b->key_offsets, b->key_nulls, from + n, &m->key, &m->key_len);
                size = size_of(b, from + n, m->len);
                if (!take_room(c, b, size))
                        break;
                m->_private = (void *)(intptr_t)size;
        }
        if (n == 0) {
                set_result(r, PS_ERR_QUEUE_FULL, NULL);
                return 0;
        }
        good = rd_kafka_produce_batch(b->topic, b->partition, RD_KAFKA_MSG_F_COPY, c->chunk, n);
        atomic_fetch_add(&c->accepted, good);
        for (first = 0; first < n && c->chunk[first].err == PS_ERR_NO_ERROR; first++)
                ;
        if (first == n)
                return n;
        for (int i = first; i < n; i++)
                if (c->chunk[i].err != PS_ERR_NO_ERROR)
                        atomic_fetch_sub(&c->taken, (intptr_t)c->chunk[i]._private);
        set_result(r, c->chunk[first].err, NULL);
        if (good != first && r->code == PS_ERR_QUEUE_FULL)
                set_result(r, -1, "the client library accepted a record behind one that it had no room for");
        return first;
}

/* The headers of record i, NULL when it has none. The library's variant for one header would end a key at a zero byte. */
static rd_kafka_headers_t *headers_of(const ps_batch *b, int64_t i) {
        uint32_t k, from = b->header_ends[i], to = b->header_ends[i + 1];
        rd_kafka_headers_t *headers;
        if (from == to)
                return NULL;
        headers = rd_kafka_headers_new(to - from);
        for (k = from; k < to; k++) {
                const uint32_t *o = b->header_offsets + 2 * (size_t)k;
                /* An empty value needs an address, or the library takes it for null. */
                const void *value = o[2] > o[1] ? b->header_bytes + o[1] : &nothing;
                const void *key   = o[1] > o[0] ? b->header_bytes + o[0] : &nothing;
                rd_kafka_header_add(headers, key, o[1] - o[0], value, o[2] - o[1]);
        }
        return headers;
}

/* Enqueues the record at index i with its timestamp and headers. */
static int64_t produce_one(ps_client *c, const ps_batch *b, int64_t i, ps_result *r) {
        rd_kafka_vu_t vu[8];
        rd_kafka_headers_t *headers;
        rd_kafka_error_t *error;
        int64_t size;
        size_t n = 6;
        vu[0].vtype = RD_KAFKA_VTYPE_RKT;
        vu[0].u.rkt = b->topic;
        vu[1].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
        vu[1].u.i   = RD_KAFKA_MSG_F_COPY;
        vu[2].vtype = RD_KAFKA_VTYPE_VALUE;
        field_of(b->values, b->value_offsets, b->value_nulls, i, &vu[2].u.mem.ptr, &vu[2].u.mem.size);
        vu[3].vtype = RD_KAFKA_VTYPE_KEY;
        field_of(b->keys, b->key_offsets, b->key_nulls, i, &vu[3].u.mem.ptr, &vu[3].u.mem.size);
        vu[4].vtype = RD_KAFKA_VTYPE_PARTITION;
        vu[4].u.i32 = b->partition;
        size        = size_of(b, i, vu[2].u.mem.size);
        if (!take_room(c, b, size)) {
                set_result(r, PS_ERR_QUEUE_FULL, NULL);
                return 0;
        }
        vu[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
        vu[5].u.ptr = (void *)(intptr_t)size;
        if (b->timestamps && b->timestamps[i] != PS_NO_TIMESTAMP) {
                vu[n].vtype   = RD_KAFKA_VTYPE_TIMESTAMP;
                vu[n++].u.i64 = b->timestamps[i];
        }
        if ((headers = b->header_ends ? headers_of(b, i) : NULL)) {
                vu[n].vtype       = RD_KAFKA_VTYPE_HEADERS;
                vu[n++].u.headers = headers;
        }
        if ((error = rd_kafka_produceva(c->rk, vu, n))) {
                take_error(r, error);
                atomic_fetch_sub(&c->taken, size);
                if (headers)
                        rd_kafka_headers_destroy(headers); /* the library takes them over only on success */
                return 0;
        }
        atomic_fetch_add(&c->accepted, 1);
        return 1;
}

void ps_waiting_get(ps_client *c, ps_waiting *w) {
        w->given = atomic_load(&c->given);
        w->bytes = atomic_load(&c->taken) - w->given;
}

int64_t ps_produce(ps_client *c, const ps_batch *b, int64_t max_block_ms, ps_result *r) {
        int64_t done = 0, deadline = now_ms() + max_block_ms;
        int one_by_one = b->timestamps || b->header_ends;
        memset(r, 0, sizeof(*r));
        while (done < b->count) {
                int64_t seen = atomic_load(&c->given);
                memset(r, 0, sizeof(*r));
                done += one_by_one ? produce_one(c, b, done, r) : produce_chunk(c, b, done, r);
                if (r->code == PS_ERR_NO_ERROR)
                        continue;
                if (r->code != PS_ERR_QUEUE_FULL || atomic_load(&c->refused) || !wait_for_room(c, seen, deadline))
                        return done;
        }
        return done;
}

/* ---- proving ---- */

void ps_hurry(ps_client *c) {
        atomic_store(&c->hurried, 1);
        rd_kafka_queue_yield(c->main_queue);
}

void ps_flush(ps_client *c, int64_t timeout_ms, ps_result *r) {
        int64_t left, deadline = now_ms() + timeout_ms;
        int err;
        do {
                left = deadline - now_ms();
                left = left < 0 ? 0 : left;
                err  = rd_kafka_flush(c->rk, left < SLICE_MS ? (int)left : SLICE_MS);
        } while (err == PS_ERR_TIMED_OUT && left > 0 && !ps_failed(c) && !atomic_load(&c->cancelled));
        memset(r, 0, sizeof(*r));
        if (err)
                set_result(r, err, NULL);
}

/* ---- transactions ---- */

void ps_init_transactions(ps_client *c, int timeout_ms, ps_result *r) {
        take_error(r, rd_kafka_init_transactions(c->rk, timeout_ms));
}

void ps_begin_transaction(ps_client *c, ps_result *r) {
        take_error(r, rd_kafka_begin_transaction(c->rk));
}

void ps_abort_transaction(ps_client *c, int timeout_ms, ps_result *r) {
        take_error(r, rd_kafka_abort_transaction(c->rk, timeout_ms));
}
