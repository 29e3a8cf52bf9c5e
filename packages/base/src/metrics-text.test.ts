import { expect, test } from "vitest";
import { Histogram } from "./histogram.ts";
import { MetricsText } from "./metrics-text.ts";

test("a histogram counts each observation in every bucket it falls into", () => {
  const histogram = new Histogram([0.1, 1]);
  const text = new MetricsText();

  for (const value of [0.05, 0.1, 0.5, 7]) histogram.observe(value);
  histogram.write(text, "took", [["verb", "GET"]]);

  expect(text.finish()).toBe(
    'took_bucket{verb="GET",le="0.1"} 2\n' +
      'took_bucket{verb="GET",le="1"} 3\n' +
      'took_bucket{verb="GET",le="+Inf"} 4\n' +
      'took_sum{verb="GET"} 7.65\n' +
      'took_count{verb="GET"} 4\n',
  );
});

test("label values are escaped", () => {
  const text = new MetricsText();

  text.sample("x", [["a", 'b"c\\d\n']], 1);

  expect(text.finish()).toBe('x{a="b\\"c\\\\d\\n"} 1\n');
});
