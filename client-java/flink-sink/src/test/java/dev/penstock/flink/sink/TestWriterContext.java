package dev.penstock.flink.sink;

import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobInfo;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.operators.ProcessingTimeService;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.OperatorIOMetricGroup;
import org.apache.flink.metrics.groups.SinkWriterMetricGroup;
import org.apache.flink.metrics.groups.UnregisteredMetricsGroup;
import org.apache.flink.util.SimpleUserCodeClassLoader;
import org.apache.flink.util.UserCodeClassLoader;

/** The context of subtask 0 of 1, without a task around it; keeps the gauges. */
final class TestWriterContext implements WriterInitContext {

    private final Map<String, Gauge<?>> gauges = new HashMap<>();
    private final ManualTimers timers = new ManualTimers();
    private final ManualMailbox mailbox = new ManualMailbox();
    private final SinkWriterMetricGroup metrics = new Metrics();

    /** The value of a gauge by its last name. */
    Object gauge(String name) {
        return gauges.get(name).getValue();
    }

    @Override
    public UserCodeClassLoader getUserCodeClassLoader() {
        return SimpleUserCodeClassLoader.create(getClass().getClassLoader());
    }

    @Override
    public MailboxExecutor getMailboxExecutor() {
        return mailbox;
    }

    @Override
    public ProcessingTimeService getProcessingTimeService() {
        return timers;
    }

    @Override
    public SinkWriterMetricGroup metricGroup() {
        return metrics;
    }

    @Override
    public SerializationSchema.InitializationContext asSerializationSchemaInitializationContext() {
        return new SerializationSchema.InitializationContext() {
            @Override
            public MetricGroup getMetricGroup() {
                return metrics;
            }

            @Override
            public UserCodeClassLoader getUserCodeClassLoader() {
                return TestWriterContext.this.getUserCodeClassLoader();
            }
        };
    }

    @Override
    public boolean isObjectReuseEnabled() {
        return false;
    }

    @Override
    public <T> TypeSerializer<T> createInputSerializer() {
        throw new UnsupportedOperationException();
    }

    @Override
    public OptionalLong getRestoredCheckpointId() {
        return OptionalLong.empty();
    }

    @Override
    public JobInfo getJobInfo() {
        return new JobInfo() {
            @Override
            public JobID getJobId() {
                return new JobID(1, 2);
            }

            @Override
            public String getJobName() {
                return "job";
            }
        };
    }

    @Override
    public TaskInfo getTaskInfo() {
        return new TaskInfo() {
            @Override
            public String getTaskName() {
                return "sink";
            }

            @Override
            public int getMaxNumberOfParallelSubtasks() {
                return 1;
            }

            @Override
            public int getIndexOfThisSubtask() {
                return 0;
            }

            @Override
            public int getNumberOfParallelSubtasks() {
                return 1;
            }

            @Override
            public int getAttemptNumber() {
                return 0;
            }

            @Override
            public String getTaskNameWithSubtasks() {
                return "sink (1/1)#0";
            }

            @Override
            public String getAllocationIDAsString() {
                return "none";
            }
        };
    }

    /** Keeps gauges of all groups in one map; everything else goes nowhere. */
    private final class Metrics extends UnregisteredMetricsGroup implements SinkWriterMetricGroup {
        private final Counter errors = new SimpleCounter();

        @Override
        public <T, G extends Gauge<T>> G gauge(String name, G gauge) {
            gauges.put(name, gauge);
            return gauge;
        }

        @Override
        public MetricGroup addGroup(String name) {
            return this;
        }

        @Override
        public OperatorIOMetricGroup getIOMetricGroup() {
            return UnregisteredMetricsGroup.createOperatorIOMetricGroup();
        }

        @Override
        public Counter getNumRecordsOutErrorsCounter() {
            return errors;
        }

        @Override
        public Counter getNumRecordsSendErrorsCounter() {
            return errors;
        }

        @Override
        public Counter getNumRecordsSendCounter() {
            return new SimpleCounter();
        }

        @Override
        public Counter getNumBytesSendCounter() {
            return new SimpleCounter();
        }

        @Override
        public void setCurrentSendTimeGauge(Gauge<Long> gauge) {
            gauges.put("currentSendTime", gauge);
        }
    }
}
