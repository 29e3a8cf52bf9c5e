import { describe, expect, test } from "vitest";
import { formatImage, parseImage, withTag } from "./image-reference.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("an image", () => {
  const cases: Record<
    string,
    { image: string; want: [registry: string, repository: string, tag: string, digest: string] }
  > = {
    "may be a bare name": { image: "nginx", want: ["", "nginx", "", ""] },
    "has no registry when its first part is no host": { image: "team/app:1", want: ["", "team/app", "1", ""] },
    "has a registry when its first part holds a dot": {
      image: "docker.io/library/nginx:1.25",
      want: ["docker.io", "library/nginx", "1.25", ""],
    },
    "has a registry when its first part holds a port": {
      image: "mirror:5000/app",
      want: ["mirror:5000", "app", "", ""],
    },
    "may come from localhost": { image: "localhost/app", want: ["localhost", "app", "", ""] },
    "may be fixed by a digest": { image: `gcr.io/p/app@${DIGEST}`, want: ["gcr.io", "p/app", "", DIGEST] },
    "with tag and digest keeps the tag alone": {
      image: `gcr.io/p/app:v1@${DIGEST}`,
      want: ["gcr.io", "p/app", "v1", ""],
    },
  };
  for (const [behaviour, { image, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const { registry, repository, tag, digest } = parseImage(image);

      expect([registry, repository, tag, digest]).toEqual(want);
    });
  }

  test("that is read and written again is the same", () => {
    for (const image of ["nginx", "a/b/c/d:1", "localhost:5000/app:dev", `gcr.io/p/app@${DIGEST}`])
      expect(formatImage(parseImage(image))).toBe(image);
  });

  test("that is none is an error", () => {
    for (const image of ["", ":1.25", "team/UPPER", "mirror.local//x", "a b", "x".repeat(5000)])
      expect(() => parseImage(image)).toThrow("not an image reference");
  });
});

test("a text that is neither tag nor digest changes nothing", () => {
  const image = parseImage("nginx:1.25");

  expect(withTag(image, "bad tag!")).toEqual(image);
  expect(formatImage(withTag(image, "v9"))).toBe("nginx:v9");
  expect(formatImage(withTag(image, DIGEST))).toBe(`nginx@${DIGEST}`);
});

test("a long text that almost is an image is refused quickly", () => {
  const hostile = `${"a-".repeat(2000)}!`;
  const started = performance.now();

  expect(() => parseImage(hostile)).toThrow("not an image reference");

  expect(performance.now() - started).toBeLessThan(1000);
});
