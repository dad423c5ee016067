package lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * The ways in which a client is steered while it runs: lines on standard input, and signals. The end of standard input
 * closes the client, so that none outlives the test that started it.
 */
final class Commands {
    private final Queue<String> queue = new ConcurrentLinkedQueue<>();
    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    /** onClose is called once, from another thread, when the client should close. */
    Commands(Runnable onClose) {
        Runnable close = () -> {
            closing.countDown();
            onClose.run();
        };
        Thread reader = new Thread(() -> {
            try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in))) {
                for (String line = in.readLine(); line != null && !line.equals("close"); line = in.readLine()) {
                    queue.add(line);
                }
            } catch (IOException e) {
                Events.say("error", "message", e.toString());
            }
            close.run();
        }, "commands");
        reader.setDaemon(true);
        reader.start();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            close.run();
            try {
                closed.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
    }

    /** The next command and its argument, or null. */
    String[] next() {
        String line = queue.poll();
        return line == null ? null : (line.strip() + " ").split(" ", 2);
    }

    boolean isClosing() {
        return closing.getCount() == 0;
    }

    /** Does nothing for that long, as a busy application does; a close ends it early. */
    void work(long millis) throws InterruptedException {
        if (millis > 0) {
            closing.await(millis, TimeUnit.MILLISECONDS);
        }
    }

    /** Must be called when the client has closed: a signal waits for it. */
    void done() {
        closed.countDown();
    }
}
