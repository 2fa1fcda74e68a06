package dev.penstock.flink.sink;

import dev.penstock.flink.security.KafkaSecurity;
import dev.penstock.flink.security.UnsupportedSecurityException;
import dev.penstock.proto.v1.OpenWriter;
import dev.penstock.proto.v1.Owner;
import dev.penstock.proto.v1.Security;
import dev.penstock.session.SessionSettings;
import java.io.IOException;
import java.io.Serializable;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.Properties;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.connector.sink2.WriterInitContext;

/** Opens the daemon's side of a writer; the seam at which tests put a daemon of their own. */
@FunctionalInterface
interface DaemonConnector extends Serializable {

    /**
     * Opens a writer for the task of {@code context}. No transactional id has been touched when this returns or throws,
     * so the stock writer may still take over.
     */
    DaemonWriter connect(NativePlan plan, WriterInitContext context) throws IOException;

    /** Connects to the daemon of this machine. */
    static DaemonWriter local(NativePlan plan, WriterInitContext context) throws IOException {
        WriterSettings settings = plan.settings();
        Map<String, String> variables = context.metricGroup().getAllVariables();
        RunningVersions versions = RunningVersions.current();
        SessionSettings session =
                new SessionSettings(
                        settings.resolveSocketDirectory(),
                        TaskBudget.resolve(context),
                        variables.getOrDefault("<tm_id>", "TaskManager") + "@" + host(variables),
                        versions.flink(),
                        versions.jackson(),
                        settings.connectTimeout());
        OpenWriter.Builder open = plan.openMessage().setOwner(owner(context, variables));
        protect(open, plan.producerProperties());
        return StreamDaemonWriter.open(session, open);
    }

    /** Here and not in the plan: key stores are files of this machine, and are read anew by each attempt. */
    private static void protect(OpenWriter.Builder open, Properties producer) throws NotNativeException {
        try {
            Security security = KafkaSecurity.resolve(producer);
            if (security != null) {
                open.getKafkaBuilder().setSecurity(security);
            }
        } catch (UnsupportedSecurityException e) {
            throw new NotNativeException(e.getMessage());
        }
    }

    private static Owner owner(WriterInitContext context, Map<String, String> variables) {
        TaskInfo task = context.getTaskInfo();
        return Owner.newBuilder()
                .setJobId(context.getJobInfo().getJobId().toHexString())
                .setVertex(variables.getOrDefault("<task_id>", ""))
                .setSubtask(task.getIndexOfThisSubtask())
                .setAttempt(task.getAttemptNumber())
                .setTaskName(task.getTaskNameWithSubtasks())
                .build();
    }

    private static String host(Map<String, String> variables) {
        String host = variables.get("<host>");
        if (host != null) {
            return host;
        }
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "unknown";
        }
    }
}
