package dev.penstock.flink.sink;

import java.lang.reflect.Method;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;

/** The memory budget of this TaskManager process: how many bytes of the daemon's arena its sinks may hold together. */
final class TaskBudget {

    private static final String SETTING = TaskManagerOptions.TASK_OFF_HEAP_MEMORY.key();

    private TaskBudget() {}

    /**
     * The budget in bytes: the TaskManager's task off-heap memory, and nothing else. All tables of a process share it, so
     * none of them can set it.
     *
     * <p>WriterInitContext has no public way to the TaskManager's configuration, but the class that Flink passes has: its
     * runtime context.
     *
     * @throws NotNativeException when it is 0, or the context is not Flink's
     */
    static long resolve(WriterInitContext context) throws NotNativeException {
        if (!(runtimeContext(context) instanceof StreamingRuntimeContext runtime)) {
            throw new NotNativeException("the memory budget of this TaskManager is hidden: " + context.getClass().getName()
                    + " has no way to '" + SETTING + "'; a sink around Penstock's must pass Flink's own WriterInitContext"
                    + " on");
        }
        long budget = runtime.getTaskManagerRuntimeInfo()
                .getConfiguration()
                .get(TaskManagerOptions.TASK_OFF_HEAP_MEMORY)
                .getBytes();
        if (budget <= 0) {
            throw new NotNativeException("the memory budget of this TaskManager is 0: set '" + SETTING
                    + "' in the TaskManager's configuration (for example 128m)");
        }
        return budget;
    }

    /**
     * What {@code InitContextBase.getRuntimeContext()} answers, or null when there is no such method. By reflection,
     * because up to Flink 2.1 neither the class nor the method is public, and one way for all lines is one to test.
     */
    private static Object runtimeContext(WriterInitContext context) {
        for (Class<?> type = context.getClass(); type != null; type = type.getSuperclass()) {
            try {
                Method getter = type.getDeclaredMethod("getRuntimeContext");
                getter.setAccessible(true);
                return getter.invoke(context);
            } catch (NoSuchMethodException e) {
                continue;
            } catch (ReflectiveOperationException | RuntimeException e) {
                return null;
            }
        }
        return null;
    }
}
