import { expect, test } from "vitest";
import { joinWaiting } from "./join-waiting.ts";

const web = (cluster: string, reason: string, cause?: string) => ({
  title: "Deployment shop/web",
  cluster,
  reason,
  cause,
});

test("members that wait for the same are named together", () => {
  const waiting = ["m1", "m2", "m3", "m4", "m5"].map((cluster) => web(cluster, "1 of 4 pods is not ready"));

  expect(joinWaiting(waiting)).toBe("Deployment shop/web on m1, m2, m3 and 2 more: 1 of 4 pods is not ready");
});

test("copies with a known cause come first, and the others are counted", () => {
  const waiting = ["m1", "m2", "m3", "m4"].map((cluster) => web(cluster, `the reason on ${cluster}`));
  const broken = web("m5", "no pod is ready", "ImagePullBackOff: image web:2");

  expect(joinWaiting([...waiting, broken])).toBe(
    "Deployment shop/web on m5: no pod is ready (ImagePullBackOff: image web:2); " +
      "Deployment shop/web on m1: the reason on m1; Deployment shop/web on m2: the reason on m2; and 2 more",
  );
});

test("a long reason is shortened, so that the line stays readable", () => {
  const waiting = ["m1", "m2", "m3"].map((cluster) =>
    web(cluster, "no pod is ready", `${cluster} ${"x".repeat(2_000)}`),
  );

  expect(joinWaiting(waiting).length).toBeLessThan(1_000);
});
