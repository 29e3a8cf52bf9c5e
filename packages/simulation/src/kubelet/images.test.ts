import { expect, test } from "vitest";
import { imageIdOf, isBroken, reportedImage } from "./images.ts";

const cases: Record<string, { reported: string; broken: boolean }> = {
  nginx: { reported: "nginx:latest", broken: false },
  "nginx:1.0": { reported: "nginx:1.0", broken: false },
  "registry.example.com:5000/nginx": { reported: "registry.example.com:5000/nginx:latest", broken: false },
  "registry.example.com:5000/nginx:broken-2": { reported: "registry.example.com:5000/nginx:broken-2", broken: true },
  "nginx@sha256:0123": { reported: "nginx@sha256:0123", broken: false },
  "broken:1.0": { reported: "broken:1.0", broken: false },
};
for (const [image, { reported, broken }] of Object.entries(cases)) {
  test(`${image} is reported as ${reported}${broken ? " and cannot be pulled" : ""}`, () => {
    expect([reportedImage(image), isBroken(image)]).toEqual([reported, broken]);
  });
}

test("an image id is the hash of the image's name", () => {
  expect(imageIdOf("nginx:1.0")).toBe("sim://sha256:cf2ccadc8d693ec0d9857875839b94f186793a0ca3aaed63fbe701a61d96ef65");
});
