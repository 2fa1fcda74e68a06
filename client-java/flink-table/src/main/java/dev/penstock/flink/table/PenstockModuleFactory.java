package dev.penstock.flink.table;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.factories.ModuleFactory;
import org.apache.flink.table.module.Module;

/** Makes {@code LOAD MODULE penstock} known; the module has no options. */
public final class PenstockModuleFactory implements ModuleFactory {

    /** The name of the module. */
    public static final String IDENTIFIER = "penstock";

    @Override
    public String factoryIdentifier() {
        return IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of();
    }

    /**
     * The module.
     *
     * @throws org.apache.flink.table.api.ValidationException naming an option, since there are none
     */
    @Override
    public Module createModule(Context context) {
        FactoryUtil.createModuleFactoryHelper(this, context).validate();
        return new PenstockModule();
    }
}
