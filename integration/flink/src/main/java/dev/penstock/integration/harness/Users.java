package dev.penstock.integration.harness;

import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** SCRAM users and their rights on a broker with an authorizer. */
public final class Users {
    private static final long TIMEOUT_SECONDS = 60;
    private static final int ITERATIONS = 4096;

    private Users() {}

    /** Adds a user for both SCRAM mechanisms. */
    public static void add(String bootstrapServers, String user, String password) {
        for (ScramMechanism mechanism : List.of(ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512)) {
            with(bootstrapServers, admin -> admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(
                    user, new ScramCredentialInfo(mechanism, ITERATIONS), password))).all());
        }
    }

    /** Lets a user do one thing with the resources whose name begins so. */
    public static void allow(String bootstrapServers, String user, AclOperation operation, ResourceType type,
            String prefix) {
        rule(bootstrapServers, user, operation, AclPermissionType.ALLOW, type, prefix);
    }

    /** Forbids it, whatever else is allowed. */
    public static void deny(String bootstrapServers, String user, AclOperation operation, ResourceType type,
            String prefix) {
        rule(bootstrapServers, user, operation, AclPermissionType.DENY, type, prefix);
    }

    private static void rule(String bootstrapServers, String user, AclOperation operation, AclPermissionType permission,
            ResourceType type, String prefix) {
        Collection<AclBinding> rights = List.of(new AclBinding(
                new ResourcePattern(type, prefix, PatternType.PREFIXED),
                new AccessControlEntry("User:" + user, "*", operation, permission)));
        with(bootstrapServers, admin -> admin.createAcls(rights).all());
    }

    /** One call of an admin client. */
    private interface Call {
        KafkaFuture<Void> on(Admin admin);
    }

    private static void with(String bootstrapServers, Call call) {
        try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers))) {
            call.on(admin).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        } catch (Exception e) {
            throw new IllegalStateException("cannot change the users of " + bootstrapServers, e);
        }
    }
}
