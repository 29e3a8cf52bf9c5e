import { expect, test } from "vitest";
import { imageReferenceProblem } from "./image-reference.ts";

const FORMAT = "invalid reference format";
const UPPER_CASE = "invalid reference format: repository name must be lowercase";

const cases: Record<string, string | undefined> = {
  nginx: undefined,
  "nginx:1.25": undefined,
  "team/web:1": undefined,
  "localhost/web": undefined,
  "registry.example.com:5000/team/web_app--x:v1.2-rc.1": undefined,
  [`nginx@sha256:${"a".repeat(64)}`]: undefined,
  [`nginx:1@sha512:${"0".repeat(128)}`]: undefined,
  "": FORMAT,
  "a b": FORMAT,
  "web:": FORMAT,
  "-web": FORMAT,
  "nginx@sha256:zz": FORMAT,
  "registry.example.com/": FORMAT,
  UPPER: UPPER_CASE,
  "registry.example.com/Team/web": UPPER_CASE,
  [`nginx@sha256:${"a".repeat(32)}`]: "invalid checksum digest length",
  [`nginx@sha256:${"A".repeat(64)}`]: "invalid checksum digest format",
  [`nginx@md5:${"a".repeat(32)}`]: "unsupported digest algorithm",
  ["a".repeat(64)]: `invalid repository name (${"a".repeat(64)}), cannot specify 64-byte hexadecimal strings`,
  [`web/${"b".repeat(256)}`]: "repository name must not be more than 255 characters",
};
for (const [image, want] of Object.entries(cases)) {
  test(`the image ${JSON.stringify(image.slice(0, 40))} is ${want === undefined ? "valid" : "invalid"}`, () => {
    expect(imageReferenceProblem(image)).toBe(want);
  });
}
