import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;

import org.apache.kafka.common.utils.Utils;

/**
 * Prints 10,000 random ids with what a JVM and kafka-clients make of them, for
 * locate's property test. The seed is fixed, so the table can be made again:
 *
 *   java -cp kafka-clients-4.1.1.jar scripts/HashVectors.java | gzip -9n > locate/testdata/hash-random.tsv.gz
 *
 * Columns: the id as hex of its UTF-8, String.hashCode, a partition count, and
 * Utils.abs(hash) modulo that count.
 */
public class HashVectors {
    private static final int IDS = 10_000;
    private static final Random RANDOM = new Random(20261129);
    private static final String NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    private static final int[] COUNTS = {1, 2, 3, 7, 16, 25, 50, 64, 99, 100, 128, 200, 1000, 32768, Integer.MAX_VALUE};

    public static void main(String[] args) {
        System.out.println("# utf8_hex\tjava_hash\tpartitions\tpartition   made by scripts/HashVectors.java");
        for (int i = 0; i < IDS; i++) {
            String id = switch (i % 5) {
                case 0, 1 -> name();
                case 2 -> text(0x80, 0xFFFF);
                case 3 -> text(1, Character.MAX_CODE_POINT);
                default -> smallest();
            };
            int hash = id.hashCode();
            int count = i % 3 == 0 ? 50 : COUNTS[RANDOM.nextInt(COUNTS.length)];
            String hex = HexFormat.of().formatHex(id.getBytes(StandardCharsets.UTF_8));
            System.out.println(hex + "\t" + hash + "\t" + count + "\t" + Utils.abs(hash) % count);
        }
    }

    /** A name as people give them. */
    private static String name() {
        StringBuilder b = new StringBuilder();
        for (int n = 1 + RANDOM.nextInt(40); n > 0; n--) {
            b.append(NAME.charAt(RANDOM.nextInt(NAME.length())));
        }
        return b.toString();
    }

    /** Any code points of a range but lone surrogates, which UTF-8 cannot carry. */
    private static String text(int from, int to) {
        StringBuilder b = new StringBuilder();
        for (int n = 1 + RANDOM.nextInt(16); n > 0; n--) {
            int c = from + RANDOM.nextInt(to - from + 1);
            b.appendCodePoint(c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? 'x' : c);
        }
        return b.toString();
    }

    /** An id whose hash is Integer.MIN_VALUE (or its neighbour), which has no absolute value. */
    private static String smallest() {
        String head = name();
        int want = Integer.MIN_VALUE + RANDOM.nextInt(2);
        // Eight more units d give h = head * 31^8 + sum d_k * 31^(7-k), modulo 2^32: write the
        // difference, plus a fixed offset of 'A' a unit, in base 31.
        int base = 0;
        int power = 1;
        for (int k = 0; k < 8; k++) {
            base = base * 31 + 'A';
            power *= 31;
        }
        long rest = Integer.toUnsignedLong(want - head.hashCode() * power - base);
        char[] tail = new char[8];
        for (int k = 7; k >= 0; k--) {
            tail[k] = (char) ('A' + rest % 31);
            rest /= 31;
        }
        return head + new String(tail);
    }
}
