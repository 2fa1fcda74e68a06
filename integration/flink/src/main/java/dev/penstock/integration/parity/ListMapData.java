package dev.penstock.integration.parity;

import java.util.Arrays;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.MapData;

/** A map as two arrays, so that it can hold duplicate and null keys in a chosen order, as binary maps can. */
record ListMapData(GenericArrayData keys, GenericArrayData values) implements MapData {
    @Override
    public int size() {
        return keys.size();
    }

    @Override
    public ArrayData keyArray() {
        return keys;
    }

    @Override
    public ArrayData valueArray() {
        return values;
    }

    @Override
    public String toString() {
        return Arrays.toString(keys.toObjectArray()) + "->" + Arrays.toString(values.toObjectArray());
    }
}
