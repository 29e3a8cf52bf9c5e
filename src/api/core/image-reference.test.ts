import { expect, test } from "vitest";
import { pullPolicyOf } from "./image-reference.ts";

const policies: Record<string, [image: string, want: string]> = {
  "an image without a tag is always pulled": ["nginx", "Always"],
  "the tag latest is always pulled": ["example.com:5000/nginx:latest", "Always"],
  "a port of the registry is no tag": ["example.com:5000/nginx", "Always"],
  "another tag is pulled once": ["nginx:1.27", "IfNotPresent"],
  "a digest is pulled once": [`nginx@sha256:${"0".repeat(64)}`, "IfNotPresent"],
  "a tag beside a digest is looked at": [`nginx:latest@sha256:${"0".repeat(64)}`, "Always"],
  "what is no reference has no tag": ["Not An Image", "IfNotPresent"],
  "the id of an image cannot be pulled": ["0".repeat(64), "IfNotPresent"],
  "an endless text is not looked at": ["a".repeat(100_000), "IfNotPresent"],
};
for (const [behaviour, [image, want]] of Object.entries(policies)) {
  test(behaviour, () => {
    expect(pullPolicyOf(image)).toBe(want);
  });
}
