import { expect, test } from "vitest";
import { divideOrdinals } from "./fleet-ordinals.ts";
import { movingOrdinals } from "./moving-ordinals.ts";

const template = {
  apiVersion: "apps.kruise.io/v1beta1",
  kind: "StatefulSet",
  metadata: { name: "as", namespace: "pt" },
  spec: { replicas: 6 },
};
const placed = (paris: number, oslo: number, rome: number) => [
  { cluster: "paris", replicas: paris },
  { cluster: "oslo", replicas: oslo },
  { cluster: "rome", replicas: rome },
];

test("ordinals that a member gives up are named with the members that take them over", () => {
  const before = divideOrdinals(template, placed(3, 2, 1));
  const changed = placed(1, 3, 2);
  const first = divideOrdinals(
    template,
    changed.map((share) => ({ ...share, copy: before.get(share.cluster) })),
  );

  const moving = movingOrdinals(
    template,
    changed.map((share) => ({ ...share, copy: first.get(share.cluster) })),
  );

  expect(moving).toEqual([
    { from: "paris", to: "oslo", ordinals: "1" },
    { from: "paris", to: "rome", ordinals: "2" },
  ]);
});

test("nothing moves where nothing is given up, or the fleet shrinks", () => {
  const before = divideOrdinals(template, placed(3, 2, 1));
  const kept = placed(3, 2, 1).map((share) => ({ ...share, copy: before.get(share.cluster) }));
  const smaller = divideOrdinals(
    { ...template, spec: { replicas: 5 } },
    placed(3, 2, 0).map((share) => ({ ...share, copy: before.get(share.cluster) })),
  );

  expect(movingOrdinals(template, kept)).toEqual([]);
  expect(
    movingOrdinals(
      { ...template, spec: { replicas: 5 } },
      placed(3, 2, 0).map((share) => ({ ...share, copy: smaller.get(share.cluster) })),
    ),
  ).toEqual([]);
});
