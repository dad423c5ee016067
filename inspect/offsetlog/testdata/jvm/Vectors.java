// Vectors writes records of every type of __consumer_offsets with Kafka's own
// generated classes, filled at random from a fixed seed, with the JSON that Kafka's
// own converters give for them. The Go decoders are tested against its output.
//
//   java -cp 'kafka-group-coordinator-4.3.0.jar:kafka-clients-4.3.0.jar:…' Vectors.java > vectors-4.3.0.tsv
//
// Columns: type, value version, key hex, value hex, key JSON, value JSON. The
// consumer protocol's bytes, which clients write, have "sub" and "asg" for a type.

import com.fasterxml.jackson.databind.JsonNode;
import java.lang.reflect.*;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.*;

public class Vectors {
    static final String GENERATED = "org.apache.kafka.coordinator.group.generated.";
    static final String[] NAMES = {
        "LegacyOffsetCommit", "OffsetCommit", "GroupMetadata", "ConsumerGroupMetadata", "ConsumerGroupPartitionMetadata",
        "ConsumerGroupMemberMetadata", "ConsumerGroupTargetAssignmentMetadata", "ConsumerGroupTargetAssignmentMember",
        "ConsumerGroupCurrentMemberAssignment", null, "ShareGroupMemberMetadata", "ShareGroupMetadata",
        "ShareGroupTargetAssignmentMetadata", "ShareGroupTargetAssignmentMember", "ShareGroupCurrentMemberAssignment",
        "ShareGroupStatePartitionMetadata", "ConsumerGroupRegularExpression", "StreamsGroupMetadata", null,
        "StreamsGroupMemberMetadata", "StreamsGroupTargetAssignmentMetadata", "StreamsGroupTargetAssignmentMember",
        "StreamsGroupCurrentMemberAssignment", "StreamsGroupTopology"};
    static Random random = new Random(20261129);
    static double nulls;

    public static void main(String[] args) throws Exception {
        for (int type = 0; type < NAMES.length; type++) {
            if (NAMES[type] != null) vectors("" + type, GENERATED + NAMES[type] + "Key", GENERATED + NAMES[type] + "Value");
        }
        vectors("sub", null, "org.apache.kafka.common.message.ConsumerProtocolSubscription");
        vectors("asg", null, "org.apache.kafka.common.message.ConsumerProtocolAssignment");
    }

    static void vectors(String type, String keyClass, String valueClass) throws Exception {
        Class<?> value = Class.forName(valueClass);
        short high = (Short) value.getField("HIGHEST_SUPPORTED_VERSION").get(null);
        for (short version = 0; version <= high; version++) {
            int done = 0;
            for (int attempt = 0; done < 4 && attempt < 400; attempt++) {
                nulls = attempt % 2 == 0 ? 0 : 0.15;
                try {
                    String[] v = one(value, version);
                    String[] k = {"", ""};
                    nulls = 0;
                    if (keyClass != null) k = one(Class.forName(keyClass), keyVersion(keyClass, type));
                    String key = keyClass == null ? "" : String.format("%04x", Integer.parseInt(type)) + k[0];
                    System.out.println(String.join("\t", type, "" + version, key, String.format("%04x", version) + v[0], k[1], v[1]));
                    done++;
                } catch (InvocationTargetException | RuntimeException e) {
                    // a null where none is allowed, or a field that this version cannot hold: draw again
                }
            }
            if (done == 0) throw new IllegalStateException("no vector for " + valueClass + " v" + version);
        }
    }

    static short keyVersion(String keyClass, String type) throws Exception {
        return (Short) Class.forName(keyClass).getField("HIGHEST_SUPPORTED_VERSION").get(null);
    }

    static String[] one(Class<?> c, short version) throws Exception {
        Message m = (Message) fill(c);
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buf = ByteBuffer.allocate(m.size(cache, version));
        m.write(new ByteBufferAccessor(buf), cache, version);
        Class<?> converter = Class.forName(c.getName() + "JsonConverter");
        JsonNode json = (JsonNode) converter.getMethod("write", c, short.class).invoke(null, m, version);
        return new String[] {HexFormat.of().formatHex(buf.array()), json.toString()};
    }

    static Object fill(Class<?> c) throws Exception {
        Object m = c.getDeclaredConstructor().newInstance();
        for (Field f : c.getDeclaredFields()) {
            if (Modifier.isStatic(f.getModifiers()) || f.getName().startsWith("_")) continue;
            f.setAccessible(true);
            f.set(m, draw(f.getType(), f.getGenericType()));
        }
        return m;
    }

    static Object draw(Class<?> c, Type generic) throws Exception {
        if (c == byte.class) return (byte) random.nextInt(3);
        if (c == short.class) return (short) random.nextInt(100);
        if (c == int.class) return random.nextInt(8) == 0 && nulls > 0 ? 65535 : random.nextInt(60000);
        if (c == long.class) return random.nextLong() >>> (1 + random.nextInt(40));
        if (c == boolean.class) return random.nextBoolean();
        if (random.nextDouble() < nulls && c != Uuid.class) return null;
        if (c == String.class) return text();
        if (c == Uuid.class) return new Uuid(random.nextLong(), random.nextLong());
        if (c == byte[].class) return bytes();
        if (c == ByteBuffer.class) return ByteBuffer.wrap(bytes());
        if (Collection.class.isAssignableFrom(c)) return draws(c, generic);
        return fill(c);
    }

    static Object draws(Class<?> c, Type generic) throws Exception {
        boolean keyed = ImplicitLinkedHashCollectionLike(c);
        Class<?> element = keyed ? Class.forName(c.getName().replaceFirst("Collection$", ""))
            : (Class<?>) ((ParameterizedType) generic).getActualTypeArguments()[0];
        @SuppressWarnings("unchecked")
        Collection<Object> out = keyed ? (Collection<Object>) c.getDeclaredConstructor().newInstance() : new ArrayList<>();
        for (int n = random.nextInt(4); n > 0; n--) {
            Object o = element == Integer.class ? (Object) random.nextInt(1000) : element == Short.class ? (Object) (short) random.nextInt(9)
                : element == String.class ? text() : fill(element);
            out.add(o);
        }
        return out;
    }

    static boolean ImplicitLinkedHashCollectionLike(Class<?> c) { return !c.isInterface() && c.getName().endsWith("Collection"); }

    static byte[] bytes() {
        byte[] b = new byte[random.nextInt(6)];
        random.nextBytes(b);
        return b;
    }

    static String text() {
        String[] words = {"", "a", "orders", "/10.0.0.7", "größe", "消費者", "group-" + random.nextInt(1000), "x".repeat(random.nextInt(200))};
        return words[random.nextInt(words.length)];
    }
}
