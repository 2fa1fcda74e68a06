package dev.penstock.flink.table;

import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.table.catalog.Catalog;
import org.apache.flink.table.catalog.CommonCatalogOptions;
import org.apache.flink.table.factories.CatalogFactory;
import org.apache.flink.table.factories.FactoryUtil;

/** Makes {@code CREATE CATALOG c WITH ('type' = 'penstock')} known. */
public final class PenstockCatalogFactory implements CatalogFactory {

    /** The name of the database that a new catalog has; as in Flink's in-memory catalog. */
    static final ConfigOption<String> DEFAULT_DATABASE =
            ConfigOptions.key(CommonCatalogOptions.DEFAULT_DATABASE_KEY).stringType().defaultValue("default");

    @Override
    public String factoryIdentifier() {
        return PenstockModuleFactory.IDENTIFIER;
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
        return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
        return Set.of(DEFAULT_DATABASE);
    }

    /**
     * The catalog.
     *
     * @throws org.apache.flink.table.api.ValidationException naming an option that there is not
     */
    @Override
    public Catalog createCatalog(Context context) {
        FactoryUtil.CatalogFactoryHelper helper = FactoryUtil.createCatalogFactoryHelper(this, context);
        helper.validate();
        return new PenstockCatalog(context.getName(), helper.getOptions().get(DEFAULT_DATABASE));
    }
}
