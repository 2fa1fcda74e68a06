package telemetry

// Prometheus metric names. Units stand in the name.
const (
	MetricUp              = "penstock_serving"
	MetricSessions        = "penstock_sessions"
	MetricSessionsOpened  = "penstock_sessions_opened_total"
	MetricSessionsRefused = "penstock_sessions_refused_total"
	// MetricProcessesEnded counts sessions that ended because the client's process did, whatever its socket said.
	MetricProcessesEnded = "penstock_sessions_ended_with_process_total"
	// MetricPressed counts requests to sessions for segments that they do not use.
	MetricPressed   = "penstock_sessions_pressed_total"
	MetricWriters   = "penstock_writers"
	MetricProducers = "penstock_producers"
	MetricLeases    = "penstock_leases"
	// MetricSlots has the label state: reserved, parked, claimed.
	MetricSlots = "penstock_slots"

	MetricBatches = "penstock_batches_total"
	// MetricBatchesPaced counts those that waited because of writer.in_flight_time.
	MetricBatchesPaced   = "penstock_batches_paced_total"
	MetricRows           = "penstock_rows_total"
	MetricEncodedBytes   = "penstock_encoded_bytes_total"
	MetricEncodeSeconds  = "penstock_encode_seconds_total"
	MetricProduceSeconds = "penstock_produce_seconds_total"
	MetricSealSeconds    = "penstock_seal_seconds"
	// MetricLineAnswers counts answers to requests of barriers that took the short way, see AttachLine.
	MetricLineAnswers = "penstock_line_answers_total"
	// MetricEpochs has the label outcome: sealed, empty, failed, aborted.
	MetricEpochs = "penstock_epochs_total"

	// MetricHandlesRefused has the label reason: stale, foreign, bad.
	MetricHandlesRefused = "penstock_handles_refused_total"

	MetricArenaCapacity = "penstock_arena_capacity_bytes"
	MetricArenaLeased   = "penstock_arena_leased_bytes"
	MetricArenaWarm     = "penstock_arena_warm_bytes"
	MetricArenaKernel   = "penstock_arena_kernel_bytes"
	MetricLeasesDenied  = "penstock_leases_denied_total"
	MetricArenaTables   = "penstock_arena_table_bytes"
	MetricArenaParked   = "penstock_arena_parked_bytes"
	MetricArenaPinned   = "penstock_arena_pinned_bytes"
	MetricArenaOrphan   = "penstock_arena_orphan_bytes"
	// MetricSegmentsAdopted and MetricSegmentsRefused are about what the service manager kept of the daemon's earlier life.
	MetricSegmentsAdopted = "penstock_segments_adopted_total"
	MetricSegmentsRefused = "penstock_segments_refused_total"
	MetricSpilled         = "penstock_spilled_bytes"

	MetricSpillUsed     = "penstock_spill_used_bytes"
	MetricSpillQuota    = "penstock_spill_quota_bytes"
	MetricSpillFiles    = "penstock_spill_files"
	MetricSpillBatches  = "penstock_spill_batches"
	MetricSpillReadBack = "penstock_spill_read_back_bytes"
	// MetricSpillMoved and MetricSpillMovedBytes have the label direction: written, read.
	MetricSpillMoved      = "penstock_spill_batches_total"
	MetricSpillMovedBytes = "penstock_spill_bytes_total"
	// MetricSpillFailures has the label reason: write, refused, read.
	MetricSpillFailures = "penstock_spill_failures_total"

	// MetricMemoryDifference and MetricMemoryDifferences are 0 unless there is a defect.
	MetricMemoryDifference  = "penstock_memory_difference_bytes"
	MetricMemoryDifferences = "penstock_memory_differences_total"

	// The memory of one TaskManager process, with the label process: what its gauges nativeOffHeap* show.
	MetricAccountCapacity  = "penstock_account_capacity_bytes"
	MetricAccountReserved  = "penstock_account_reserved_bytes"
	MetricAccountAvailable = "penstock_account_available_bytes"
	MetricAccountPeak      = "penstock_account_peak_bytes"
	MetricAccountDenied    = "penstock_account_denied_total"
	MetricAccountWaits     = "penstock_account_waits_total"
	MetricAccountInFlight  = "penstock_account_in_flight_bytes"
	// MetricAccountPurpose has the label purpose, too: lease, encode_buffer, producer_queue, spill_read_back.
	MetricAccountPurpose = "penstock_account_purpose_bytes"
)

// Label names of metrics.
const (
	LabelState   = "state"
	LabelOutcome = "outcome"
	LabelReason  = "reason"
	LabelProcess = "process"
	LabelPurpose = "purpose"
	// LabelDirection is seen from the daemon.
	LabelDirection = "direction"
)

// Field names of log lines.
const (
	FieldError         = "error"
	FieldKind          = "kind"
	FieldStack         = "stack"
	FieldMethod        = "method"
	FieldVersion       = "version"
	FieldArena         = "arena"
	FieldSocket        = "socket"
	FieldSessionSocket = "session_socket"
	FieldAPISocket     = "api_socket"
	FieldMetrics       = "metrics"
	FieldPeer          = "peer"
	FieldSession       = "session"
	FieldSessions      = "sessions"
	FieldClient        = "client"
	FieldFlink         = "flink"
	FieldJVM           = "jvm"
	FieldBudget        = "budget_bytes"
	FieldAge           = "age"
	FieldSegment       = "segment"
	FieldSegments      = "segments"
	FieldKept          = "kept"
	FieldAdopted       = "adopted"
	FieldRefused       = "refused"
	FieldOrphans       = "orphans"
	FieldWarm          = "warm"
	FieldPurpose       = "purpose"
	FieldWriter        = "writer"
	FieldJob           = "job"
	FieldGuarantee     = "guarantee"
	FieldTask          = "task"
	FieldSubtask       = "subtask"
	FieldAttempt       = "attempt"
	FieldTopic         = "topic"
	FieldEpoch         = "epoch"
	FieldTransaction   = "transactional_id"
	FieldGrace         = "grace"
	FieldSignal        = "signal"
	FieldEngine        = "engine"
	FieldReason        = "reason"
	FieldWhat          = "what"
	FieldSlot          = "slot"
	FieldNeeded        = "needed_bytes"
	FieldRoom          = "room_bytes"
	FieldGroup         = "group"
	FieldBook          = "book"
	FieldFound         = "found"
)
