import { describe, expect, test } from "vitest";
import { MetricsText } from "./metrics-text.ts";
import { counter, Counts, exponentialBuckets, gauge, histogram, Histograms, writeGauge } from "./metrics.ts";
import { processMetrics, writeProcessMetrics } from "./process-metrics.ts";

const render = (write: (text: MetricsText) => void): string[] => {
  const text = new MetricsText();
  write(text);
  return text.finish().trimEnd().split("\n");
};

describe("a counter", () => {
  test("counts by the values of its labels", () => {
    const counts = new Counts(counter("made_total", "Things.", "kind", "result"));

    counts.add(["Pod", "success"]);
    counts.add(["Pod", "success"], 2);
    counts.add(["Pod", "error"]);

    expect(render((text) => counts.write(text))).toEqual([
      "# HELP made_total Things.",
      "# TYPE made_total counter",
      'made_total{kind="Pod",result="success"} 3',
      'made_total{kind="Pod",result="error"} 1',
    ]);
  });

  test("counts series beyond its limit together", () => {
    const counts = new Counts(counter("made_total", "Things.", "kind"), 2);

    for (const kind of ["a", "b", "c", "d", "a"]) counts.add([kind]);

    expect(render((text) => counts.write(text)).slice(2)).toEqual([
      'made_total{kind="a"} 2',
      'made_total{kind="b"} 1',
      'made_total{kind="other"} 2',
    ]);
  });

  test("restarts at zero for a label value that was forgotten and returns", () => {
    const counts = new Counts(counter("made_total", "Things.", "kind", "member_cluster"));
    counts.add(["a", "paris"]);
    counts.add(["a", "oslo"]);

    counts.forget("member_cluster", "paris");
    counts.add(["a", "paris"]);

    expect([counts.get(["a", "paris"]), counts.get(["a", "oslo"]), counts.get(["a", "rome"])]).toEqual([1, 1, 0]);
  });
});

test("a gauge that is back at zero is not written", () => {
  const counts = new Counts(gauge("there", "Things.", "state"));

  counts.add(["old"]);
  counts.add(["old"], -1);
  counts.add(["new"]);

  expect(render((text) => counts.write(text)).slice(2)).toEqual(['there{state="new"} 1']);
});

test("histograms have the bounds of their metric, formatted as in Go", () => {
  const times = new Histograms(histogram("took_seconds", "Time.", exponentialBuckets(1e-6, 10, 6), "name"));

  times.observe(["x"], 0.00005);

  expect(render((text) => times.write(text)).slice(2)).toEqual([
    'took_seconds_bucket{name="x",le="1e-06"} 0',
    'took_seconds_bucket{name="x",le="9.999999999999999e-06"} 0',
    'took_seconds_bucket{name="x",le="9.999999999999999e-05"} 1',
    'took_seconds_bucket{name="x",le="0.001"} 1',
    'took_seconds_bucket{name="x",le="0.01"} 1',
    'took_seconds_bucket{name="x",le="0.1"} 1',
    'took_seconds_bucket{name="x",le="+Inf"} 1',
    'took_seconds_sum{name="x"} 0.00005',
    'took_seconds_count{name="x"} 1',
  ]);
});

test("help is written on one line", () => {
  expect(render((text) => writeGauge(text, gauge("x", "a\nb\\c"), [[[], 1]]))).toEqual([
    "# HELP x a\\nb\\\\c",
    "# TYPE x gauge",
    "x 1",
  ]);
});

test("process metrics match their declarations, and include event loop lag from the second scrape on", () => {
  render(writeProcessMetrics);

  const lines = render(writeProcessMetrics);

  expect(lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? [])).toEqual(
    processMetrics.map(({ name }) => name),
  );
  expect(lines.join("\n")).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
  expect(lines.join("\n")).toMatch(/^process_start_time_seconds \d{10}$/m);
});
