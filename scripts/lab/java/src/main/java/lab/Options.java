package lab;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/** The options that every laboratory client takes, in whatever language it is written; see scripts/lab/README.md. */
final class Options {
    private final Map<String, String> values = new HashMap<>();
    final Properties extra = new Properties();

    Options(String[] args) {
        for (int i = 0; i < args.length; i++) {
            if (!args[i].startsWith("-") || i + 1 == args.length) {
                throw new IllegalArgumentException("expected --option value, got " + args[i]);
            }
            if (args[i].equals("-X")) {
                String[] pair = args[++i].split("=", 2);
                extra.setProperty(pair[0], pair[1]);
            } else {
                values.put(args[i].substring(2), args[++i]);
            }
        }
    }

    String need(String name) {
        String v = values.get(name);
        if (v == null) {
            throw new IllegalArgumentException("--" + name + " is missing");
        }
        return v;
    }

    String get(String name, String otherwise) {
        return values.getOrDefault(name, otherwise);
    }

    long millis(String name, long otherwise) {
        return Long.parseLong(get(name, Long.toString(otherwise)));
    }

    boolean has(String name) {
        return values.containsKey(name);
    }

    List<String> list(String name) {
        return Arrays.asList(need(name).split(","));
    }

    /** Copies an option into the client's configuration, where it was given. */
    void copy(String name, Properties into, String key) {
        if (has(name)) {
            into.setProperty(key, values.get(name));
        }
    }
}
