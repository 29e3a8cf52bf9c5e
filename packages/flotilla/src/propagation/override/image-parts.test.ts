import { describe, expect, test } from "vitest";
import { formatImage, parseImage, withTag } from "./image-parts.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("an image", () => {
  const cases: Record<
    string,
    { image: string; want: [registry: string, repository: string, tag: string, digest: string] }
  > = {
    "may be a name only": { image: "nginx", want: ["", "nginx", "", ""] },
    "has no registry when its first part is not a host": { image: "team/app:1", want: ["", "team/app", "1", ""] },
    "has a registry when its first part contains a dot": {
      image: "docker.io/library/nginx:1.25",
      want: ["docker.io", "library/nginx", "1.25", ""],
    },
    "has a registry when its first part contains a port": {
      image: "mirror:5000/app",
      want: ["mirror:5000", "app", "", ""],
    },
    "may come from localhost": { image: "localhost/app", want: ["localhost", "app", "", ""] },
    "may be pinned by a digest": { image: `gcr.io/p/app@${DIGEST}`, want: ["gcr.io", "p/app", "", DIGEST] },
    "with tag and digest keeps only the tag": {
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

  test("is unchanged by parsing and formatting", () => {
    for (const image of ["nginx", "a/b/c/d:1", "localhost:5000/app:dev", `gcr.io/p/app@${DIGEST}`])
      expect(formatImage(parseImage(image))).toBe(image);
  });

  test("an image that is invalid is an error", () => {
    for (const image of ["", ":1.25", "team/UPPER", "mirror.local//x", "a b", "x".repeat(5000)])
      expect(() => parseImage(image)).toThrow("not an image reference");
  });
});

test("a string that is neither tag nor digest changes nothing", () => {
  const image = parseImage("nginx:1.25");

  expect(withTag(image, "bad tag!")).toEqual(image);
  expect(formatImage(withTag(image, "v9"))).toBe("nginx:v9");
  expect(formatImage(withTag(image, DIGEST))).toBe(`nginx@${DIGEST}`);
});
