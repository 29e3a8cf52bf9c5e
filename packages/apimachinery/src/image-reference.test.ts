import { describe, expect, test } from "vitest";
import { isImageDigest, isImageTag, parseImageReference } from "./image-reference.ts";

const DIGEST = `sha256:${"a".repeat(64)}`;

describe("an image reference", () => {
  const cases: Record<string, { image: string; want: [name: string, tag: string, digest: string] }> = {
    "may be a name only": { image: "nginx", want: ["nginx", "", ""] },
    "may have a tag": { image: "team/app:1.25", want: ["team/app", "1.25", ""] },
    "may name a registry": { image: "docker.io/library/nginx:1.25", want: ["docker.io/library/nginx", "1.25", ""] },
    "may name a registry with a port, which is not a tag": {
      image: "mirror:5000/app",
      want: ["mirror:5000/app", "", ""],
    },
    "may name a registry by its IPv6 address": { image: "[fd00::1]:5000/app:1", want: ["[fd00::1]:5000/app", "1", ""] },
    "may name a registry in capitals": { image: "Mirror.example.com/app", want: ["Mirror.example.com/app", "", ""] },
    "may have underscores and several dashes": { image: "team_a/my__app--x", want: ["team_a/my__app--x", "", ""] },
    "may be pinned by a digest": { image: `gcr.io/p/app@${DIGEST}`, want: ["gcr.io/p/app", "", DIGEST] },
    "may have a tag and a digest": { image: `gcr.io/p/app:v1@${DIGEST}`, want: ["gcr.io/p/app", "v1", DIGEST] },
  };
  for (const [behaviour, { image, want }] of Object.entries(cases)) {
    test(behaviour, () => {
      const { name, tag, digest } = parseImageReference(image) ?? {};

      expect([name, tag, digest]).toEqual(want);
    });
  }

  test.each(["", ":1.25", "team/UPPER", "mirror.local//x", "a b", "Not An Image", "nginx:", "x".repeat(5000)])(
    "is invalid: %s",
    (image) => {
      expect(parseImageReference(image)).toBeUndefined();
    },
  );

  test("an image reference with a long name that is almost valid is rejected without backtracking for the length of the test", () => {
    expect(parseImageReference(`${"a-".repeat(500)}!`)).toBeUndefined();
    expect(parseImageReference(`${"a.".repeat(500)}!`)).toBeUndefined();
  });
});

test("tags and digests are recognised", () => {
  expect(["v9", DIGEST, "bad tag!"].map(isImageTag)).toEqual([true, false, false]);
  expect(["v9", DIGEST, "bad tag!"].map(isImageDigest)).toEqual([false, true, false]);
});
