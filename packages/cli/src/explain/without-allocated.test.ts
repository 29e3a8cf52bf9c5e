import { expect, test } from "vitest";
import type { KubernetesObject } from "@flotilla/apimachinery";
import { withoutAllocated } from "./without-allocated.ts";

const service = (ports: object[], more: object = {}): KubernetesObject =>
  ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { type: "NodePort", ports, ...more },
  }) as never;

test("node ports that a dry run allocated are not part of a plan: an apply allocates others", () => {
  const tried = service([{ port: 80, nodePort: 30896 }], { healthCheckNodePort: 31000 });

  expect(withoutAllocated(tried, [undefined, service([{ port: 80 }])])).toEqual(service([{ port: 80 }]));
});

test("node ports of the manifest and of the stored Service stay", () => {
  const tried = service([
    { port: 80, nodePort: 30001 },
    { port: 81, nodePort: 30002 },
    { port: 82, nodePort: 30896 },
  ]);
  const [before, given] = [service([{ port: 80, nodePort: 30001 }]), service([{ port: 81, nodePort: 30002 }])];

  expect(withoutAllocated(tried, [before, given])).toEqual(
    service([{ port: 80, nodePort: 30001 }, { port: 81, nodePort: 30002 }, { port: 82 }]),
  );
});

test("an object without allocated values is returned as it is", () => {
  const tried = service([{ port: 80 }]);

  expect(withoutAllocated(tried, [])).toBe(tried);
});
