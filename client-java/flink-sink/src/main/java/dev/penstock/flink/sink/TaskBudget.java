package dev.penstock.flink.sink;

import java.lang.reflect.Method;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;

/** The memory budget of this TaskManager process: how many bytes of the daemon's arena its sinks may hold together. */
final class TaskBudget {

    private TaskBudget() {}

    /**
     * The budget in bytes: the option of the table, else the TaskManager's task off-heap memory.
     *
     * @throws NotNativeException when neither gives one
     */
    static long resolve(WriterSettings settings, WriterInitContext context) throws NotNativeException {
        long budget = settings.budgetBytes() > 0 ? settings.budgetBytes() : taskOffHeapBytes(context);
        if (budget <= 0) {
            throw new NotNativeException(
                    "the memory budget of this TaskManager is 0: set '"
                            + TaskManagerOptions.TASK_OFF_HEAP_MEMORY.key()
                            + "' in the TaskManager's configuration (for example 128m), or the table option"
                            + " 'penstock.memory.budget'");
        }
        return budget;
    }

    /**
     * WriterInitContext has no public way to the TaskManager's configuration, but the class that Flink passes has: its
     * runtime context. A context of another class (a test, a wrapping sink) has no answer.
     */
    private static long taskOffHeapBytes(WriterInitContext context) {
        if (runtimeContext(context) instanceof StreamingRuntimeContext runtime) {
            return runtime.getTaskManagerRuntimeInfo()
                    .getConfiguration()
                    .get(TaskManagerOptions.TASK_OFF_HEAP_MEMORY)
                    .getBytes();
        }
        return 0;
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
