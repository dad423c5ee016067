package lab;

import java.util.Collection;
import java.util.stream.Collectors;

/** Writes one JSON object a line on standard output: what the test that started this client waits for. */
final class Events {
    private Events() {}

    /** pairs are keys and values in turn; numbers and collections stay what they are. */
    static synchronized void say(String event, Object... pairs) {
        StringBuilder line = new StringBuilder("{\"event\":").append(quote(event))
            .append(",\"ts\":").append(System.currentTimeMillis());
        for (int i = 0; i < pairs.length; i += 2) {
            line.append(',').append(quote(pairs[i].toString())).append(':').append(json(pairs[i + 1]));
        }
        System.out.println(line.append('}'));
        System.out.flush();
    }

    private static String json(Object v) {
        if (v == null) {
            return "null";
        }
        if (v instanceof Number || v instanceof Boolean) {
            return v.toString();
        }
        if (v instanceof Collection) {
            return ((Collection<?>) v).stream().map(x -> quote(x.toString())).sorted().collect(Collectors.joining(",", "[", "]"));
        }
        return quote(v.toString());
    }

    private static String quote(String s) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
