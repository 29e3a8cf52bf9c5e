import { expect, test } from "vitest";
import { parseJavaSize, totalMemory } from "./memory.ts";

const size = (text: string): NonNullable<ReturnType<typeof parseJavaSize>> => {
  const parsed = parseJavaSize(text);
  if (!parsed) throw new Error(`${text} is not a size`);
  return parsed;
};

const totals: Record<string, { heap: string; overhead?: string; factor: number; want: string }> = {
  "gets a fraction of its heap as overhead": { heap: "10g", factor: 0.4, want: "14336.000000Mi" },
  "gets at least 384 MiB of overhead": { heap: "1g", factor: 0.1, want: "1408.000000Mi" },
  "uses an explicit overhead instead": { heap: "2G", overhead: "1gb", factor: 0.4, want: "3.000000Gi" },
  "uses the smaller of two units": { heap: "1.5m", overhead: "100k", factor: 0.1, want: "1636.000000Ki" },
};
for (const [behaviour, { heap, overhead, factor, want }] of Object.entries(totals)) {
  test(`a pod ${behaviour}`, () => {
    expect(totalMemory(size(heap), overhead === undefined ? undefined : size(overhead), factor)).toBe(want);
  });
}

test("rejects a size without a unit or with a Kubernetes unit", () => {
  for (const text of ["1536", "512Mi", "", "g", "1.g.", "-1g", "1 g", "5b"])
    expect(parseJavaSize(text)).toBeUndefined();
});

test("rejects a long string at once", () => {
  expect(parseJavaSize(`${"1".repeat(200_000)}!`)).toBeUndefined();
});
