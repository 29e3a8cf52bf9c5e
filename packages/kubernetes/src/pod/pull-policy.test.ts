import { expect, test } from "vitest";
import { pullPolicyOf } from "./pull-policy.ts";

const policies: Record<string, [image: string, want: string]> = {
  "an image without a tag defaults to Always": ["nginx", "Always"],
  "the tag latest defaults to Always": ["example.com:5000/nginx:latest", "Always"],
  "the port of the registry is not a tag": ["example.com:5000/nginx", "Always"],
  "another tag defaults to IfNotPresent": ["nginx:1.27", "IfNotPresent"],
  "a digest defaults to IfNotPresent": [`nginx@sha256:${"0".repeat(64)}`, "IfNotPresent"],
  "a tag beside a digest decides the pull policy": [`nginx:latest@sha256:${"0".repeat(64)}`, "Always"],
  "an invalid reference has no tag": ["Not An Image", "IfNotPresent"],
  "an image ID cannot be pulled": ["0".repeat(64), "IfNotPresent"],
  "a very long text is not parsed": ["a".repeat(100_000), "IfNotPresent"],
};
for (const [behaviour, [image, want]] of Object.entries(policies)) {
  test(behaviour, () => {
    expect(pullPolicyOf(image)).toBe(want);
  });
}
