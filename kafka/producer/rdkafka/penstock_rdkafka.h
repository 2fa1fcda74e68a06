/*
 * The part of librdkafka's C API (version 2.11.1) that this package calls, and the client built on it.
 *
 * The library itself is carried into the link by confluent-kafka-go. Its own header lies inside that module, where no
 * portable include path reaches it, so the declarations below repeat the published ABI, and ps_check_version() refuses
 * to run on any other version. Names beginning with rd_kafka_ belong to the library, names beginning with ps_ are ours.
 */
#ifndef PENSTOCK_RDKAFKA_H
#define PENSTOCK_RDKAFKA_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

/* ---- librdkafka ---- */

#define PS_RDKAFKA_VERSION 0x020b01ff

typedef struct rd_kafka_s rd_kafka_t;
typedef struct rd_kafka_conf_s rd_kafka_conf_t;
typedef struct rd_kafka_topic_s rd_kafka_topic_t;
typedef struct rd_kafka_topic_conf_s rd_kafka_topic_conf_t;
typedef struct rd_kafka_queue_s rd_kafka_queue_t;
typedef struct rd_kafka_error_s rd_kafka_error_t;
typedef struct rd_kafka_headers_s rd_kafka_headers_t;
typedef struct rd_kafka_op_s rd_kafka_event_t;

/* C enums of this library have the size and representation of int on every platform it is built for. */
typedef int rd_kafka_resp_err_t;

enum {
        PS_ERR_DESTROY            = -197,
        PS_ERR_MSG_TIMED_OUT      = -192,
        PS_ERR_UNKNOWN_PARTITION  = -190,
        PS_ERR_UNKNOWN_TOPIC      = -188,
        PS_ERR_ALL_BROKERS_DOWN   = -187,
        PS_ERR_TIMED_OUT          = -185,
        PS_ERR_QUEUE_FULL         = -184,
        PS_ERR_SSL                = -181,
        PS_ERR_STATE              = -172,
        PS_ERR_AUTHENTICATION     = -169,
        PS_ERR_PURGE_QUEUE        = -152,
        PS_ERR_PURGE_INFLIGHT     = -151,
        PS_ERR_FATAL              = -150,
        PS_ERR_FENCED             = -144,
        PS_ERR_NO_ERROR           = 0,
        PS_ERR_UNKNOWN_TOPIC_PART = 3,
        PS_ERR_MSG_TOO_LARGE      = 10,
        PS_ERR_RECORDS_TOO_LARGE  = 18,
        PS_ERR_TOPIC_AUTH         = 29,
        PS_ERR_INVALID_TIMESTAMP  = 32,
        PS_ERR_BAD_EPOCH          = 47,
        PS_ERR_BAD_TXN_TIMEOUT    = 50,
        PS_ERR_TXN_ID_AUTH        = 53,
        PS_ERR_PRODUCER_FENCED    = 90,
};

#define RD_KAFKA_PRODUCER 0
#define RD_KAFKA_CONF_OK 0
#define RD_KAFKA_PARTITION_UA ((int32_t)-1)
#define RD_KAFKA_MSG_F_COPY 0x2

/* Kinds of events; a set of them is their sum. */
#define RD_KAFKA_EVENT_DR 0x1
#define RD_KAFKA_EVENT_ERROR 0x8
#define RD_KAFKA_EVENT_STATS 0x40

typedef struct rd_kafka_message_s {
        rd_kafka_resp_err_t err;
        rd_kafka_topic_t *rkt;
        int32_t partition;
        void *payload;
        size_t len;
        void *key;
        size_t key_len;
        int64_t offset;
        void *_private;
} rd_kafka_message_t;

enum {
        RD_KAFKA_VTYPE_END,
        RD_KAFKA_VTYPE_TOPIC,
        RD_KAFKA_VTYPE_RKT,
        RD_KAFKA_VTYPE_PARTITION,
        RD_KAFKA_VTYPE_VALUE,
        RD_KAFKA_VTYPE_KEY,
        RD_KAFKA_VTYPE_OPAQUE,
        RD_KAFKA_VTYPE_MSGFLAGS,
        RD_KAFKA_VTYPE_TIMESTAMP,
        RD_KAFKA_VTYPE_HEADER,
        RD_KAFKA_VTYPE_HEADERS,
};

typedef struct rd_kafka_vu_s {
        int vtype;
        union {
                const char *cstr;
                rd_kafka_topic_t *rkt;
                int i;
                int32_t i32;
                int64_t i64;
                struct {
                        void *ptr;
                        size_t size;
                } mem;
                struct {
                        const char *name;
                        const void *val;
                        ssize_t size;
                } header;
                rd_kafka_headers_t *headers;
                void *ptr;
                char _pad[64];
        } u;
} rd_kafka_vu_t;

#if defined(__LP64__)
_Static_assert(sizeof(rd_kafka_message_t) == 72, "rd_kafka_message_t has another layout");
_Static_assert(sizeof(rd_kafka_vu_t) == 72, "rd_kafka_vu_t has another layout");
#endif

int rd_kafka_version(void);
const char *rd_kafka_version_str(void);
const char *rd_kafka_err2str(rd_kafka_resp_err_t err);

rd_kafka_conf_t *rd_kafka_conf_new(void);
void rd_kafka_conf_destroy(rd_kafka_conf_t *conf);
int rd_kafka_conf_set(rd_kafka_conf_t *conf, const char *name, const char *value, char *errstr, size_t errstr_size);
void rd_kafka_conf_set_opaque(rd_kafka_conf_t *conf, void *opaque);
void rd_kafka_conf_set_events(rd_kafka_conf_t *conf, int events);
void rd_kafka_conf_set_log_cb(rd_kafka_conf_t *conf,
                              void (*cb)(const rd_kafka_t *rk, int level, const char *fac, const char *buf));
rd_kafka_resp_err_t rd_kafka_conf_interceptor_add_on_new(
    rd_kafka_conf_t *conf, const char *name,
    rd_kafka_resp_err_t (*cb)(rd_kafka_t *rk, const rd_kafka_conf_t *conf, void *opaque, char *text, size_t size),
    void *opaque);
rd_kafka_resp_err_t rd_kafka_interceptor_add_on_broker_state_change(
    rd_kafka_t *rk, const char *name,
    rd_kafka_resp_err_t (*cb)(rd_kafka_t *rk, int32_t id, const char *secproto, const char *name, int port,
                              const char *state, void *opaque),
    void *opaque);
void rd_kafka_conf_set_connect_cb(rd_kafka_conf_t *conf,
                                  int (*cb)(int fd, const struct sockaddr *addr, int addrlen, const char *id, void *opaque));
rd_kafka_resp_err_t rd_kafka_interceptor_add_on_acknowledgement(
    rd_kafka_t *rk, const char *name,
    rd_kafka_resp_err_t (*cb)(rd_kafka_t *rk, rd_kafka_message_t *m, void *opaque), void *opaque);

rd_kafka_t *rd_kafka_new(int type, rd_kafka_conf_t *conf, char *errstr, size_t errstr_size);
void rd_kafka_destroy(rd_kafka_t *rk);
void *rd_kafka_opaque(const rd_kafka_t *rk);
rd_kafka_resp_err_t rd_kafka_flush(rd_kafka_t *rk, int timeout_ms);
rd_kafka_resp_err_t rd_kafka_fatal_error(rd_kafka_t *rk, char *errstr, size_t errstr_size);
rd_kafka_queue_t *rd_kafka_queue_get_main(rd_kafka_t *rk);
rd_kafka_event_t *rd_kafka_queue_poll(rd_kafka_queue_t *q, int timeout_ms);
void rd_kafka_queue_yield(rd_kafka_queue_t *q);
void rd_kafka_queue_destroy(rd_kafka_queue_t *q);

int rd_kafka_event_type(const rd_kafka_event_t *event);
const rd_kafka_message_t *rd_kafka_event_message_next(rd_kafka_event_t *event);
rd_kafka_resp_err_t rd_kafka_event_error(rd_kafka_event_t *event);
const char *rd_kafka_event_error_string(rd_kafka_event_t *event);
int rd_kafka_event_error_is_fatal(rd_kafka_event_t *event);
const char *rd_kafka_event_stats(rd_kafka_event_t *event);
void rd_kafka_event_destroy(rd_kafka_event_t *event);

rd_kafka_topic_t *rd_kafka_topic_new(rd_kafka_t *rk, const char *topic, rd_kafka_topic_conf_t *conf);
void rd_kafka_topic_destroy(rd_kafka_topic_t *rkt);
const char *rd_kafka_topic_name(const rd_kafka_topic_t *rkt);
int rd_kafka_produce_batch(rd_kafka_topic_t *rkt, int32_t partition, int msgflags, rd_kafka_message_t *messages,
                           int message_cnt);
rd_kafka_error_t *rd_kafka_produceva(rd_kafka_t *rk, const rd_kafka_vu_t *vus, size_t cnt);

rd_kafka_headers_t *rd_kafka_headers_new(size_t initial_count);
void rd_kafka_headers_destroy(rd_kafka_headers_t *hdrs);
rd_kafka_resp_err_t rd_kafka_header_add(rd_kafka_headers_t *hdrs, const char *name, ssize_t name_size,
                                        const void *value, ssize_t value_size);

rd_kafka_resp_err_t rd_kafka_error_code(const rd_kafka_error_t *error);
const char *rd_kafka_error_string(const rd_kafka_error_t *error);
int rd_kafka_error_is_fatal(const rd_kafka_error_t *error);
int rd_kafka_error_is_retriable(const rd_kafka_error_t *error);
void rd_kafka_error_destroy(rd_kafka_error_t *error);

rd_kafka_error_t *rd_kafka_init_transactions(rd_kafka_t *rk, int timeout_ms);
rd_kafka_error_t *rd_kafka_begin_transaction(rd_kafka_t *rk);
rd_kafka_error_t *rd_kafka_abort_transaction(rd_kafka_t *rk, int timeout_ms);

/* ---- our client ---- */

#define PS_TEXT 512

/* One outcome. code is 0 for success; topic is set when the fault belongs to a record. */
typedef struct {
        int code;
        int fatal;
        int retriable;
        char text[PS_TEXT];
        char topic[256];
} ps_result;

/* What a producer has counted and seen; a copy, taken without stopping it. */
typedef struct {
        int64_t accepted;
        int64_t acked;
        int64_t failed;
        int identity_seen; /* statistics have shown an identity */
        int64_t producer_id;
        int producer_epoch;
        ps_result first_failure; /* of a delivery report */
        ps_result fatal;
        ps_result last_error; /* of the client as a whole, mostly connections; advice for error texts */
        ps_result refusal;    /* the first time that a broker, or its certificate, was found to refuse the client for good */
} ps_snapshot;

/*
 * One encoded batch; the memory is only read, and only until ps_produce returns. Nulls have one bit a record, least
 * significant first; without an address none is null.
 */
typedef struct {
        rd_kafka_topic_t *topic;
        const uint8_t *values;
        const uint32_t *value_offsets;
        const uint8_t *value_nulls;
        const uint8_t *keys;
        const uint32_t *key_offsets; /* NULL: every key is null */
        const uint8_t *key_nulls;
        const int64_t *timestamps; /* NULL or PS_NO_TIMESTAMP: the time of producing */
        const uint32_t *header_ends; /* NULL: no record has headers; see producer.Headers */
        const uint32_t *header_offsets;
        const uint8_t *header_bytes;
        int64_t count;
        int64_t limit;     /* bytes that may wait, see ps_produce */
        int32_t partition; /* of every record; RD_KAFKA_PARTITION_UA: the partitioner chooses */
} ps_batch;

/* Bytes of keys, values and headers, as ps_produce counts them. */
typedef struct {
        int64_t given; /* of all records that were reported so far */
        int64_t bytes; /* of those that were not: what waits */
} ps_waiting;

#define PS_NO_TIMESTAMP ((int64_t)-1)

typedef struct ps_client ps_client;

/* 0 when the linked library is the one this header describes, else its version. */
int ps_check_version(void);

/*
 * Creates a producer from count name/value pairs and starts its poll thread. log_handle is handed back to psLog, and
 * dial_handle, unless it is 0, to psDial for every connection to the transaction coordinator.
 * Returns NULL and fills r (naming the option) when the library refuses the configuration.
 */
ps_client *ps_new(const char **names, const char **values, int count, uintptr_t log_handle, uintptr_t dial_handle,
                  ps_result *r);

/* The library's own handle, for making topics. */
rd_kafka_t *ps_handle(ps_client *c);

/* Stops the poll thread and destroys the producer without ending its transaction. Topics are gone before. May block;
 * nothing else may run. */
void ps_destroy(ps_client *c);

/* Makes every call that waits return soon, and those to come. May be called from any thread until ps_destroy. */
void ps_cancel(ps_client *c);
/* ps_cancel for good; what the library logs from now on is for debugging. ps_destroy follows. */
void ps_end(ps_client *c);
/* Takes a ps_cancel back, for a producer that outlives the call that was cancelled. */
void ps_resume(ps_client *c);

void ps_snapshot_get(ps_client *c, ps_snapshot *s);
/* 1 when a delivery failed, a fatal error was raised or a broker refuses the client. Cheap: meant for every batch. */
int ps_failed(ps_client *c);
/* 1 when the library has logged a warning or worse since ps_forget_warnings. It does so before it gives a transaction up. */
int ps_warned(ps_client *c);
void ps_forget_warnings(ps_client *c);

/*
 * Enqueues every record of b in order. Waits up to max_block_ms for room: what waits may have b->limit bytes of keys, values and
 * headers, and what a record without a value occupies; the library counts only values against the limit of its queue. Returns the number
 * accepted;
 * fewer than b->count means a failure, told by r (PS_ERR_QUEUE_FULL: the wait ended by time or by ps_cancel).
 */
int64_t ps_produce(ps_client *c, const ps_batch *b, int64_t max_block_ms, ps_result *r);

/* What waits. Cheap: meant for every batch. Called by the producing thread. */
void ps_waiting_get(ps_client *c, ps_waiting *w);

/* Lets nothing that was enqueued so far linger. Does not wait. Called by the producing thread. */
void ps_hurry(ps_client *c);

/* Waits until the library holds no record any more, a delivery failed, timeout_ms passed or ps_cancel. Result code 0: none. */
void ps_flush(ps_client *c, int64_t timeout_ms, ps_result *r);

void ps_init_transactions(ps_client *c, int timeout_ms, ps_result *r);
void ps_begin_transaction(ps_client *c, ps_result *r);
void ps_abort_transaction(ps_client *c, int timeout_ms, ps_result *r);

#endif
