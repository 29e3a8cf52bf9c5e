/** Releases that failed, or that wait for a person. */
import { FleetRollout } from "@flotilla/flotilla";
import type { JsonObject } from "@flotilla/base";
import type { Broken, HealthFleet, Manifest } from "./health-fleet.ts";
import { dividedCloneSets, object, released, strategy } from "./health-manifests.ts";

const image = (name: string): JsonObject => ({
  spec: { template: { spec: { containers: [{ name: "main", image: name }] } } },
});
const release =
  (name: string) =>
  ({ patch }: HealthFleet, ns: string): Promise<void> =>
    patch("hub", released(ns), image(name));

/** Namespaces in which FleetRollouts are rejected from now on. */
export const withoutReleases = new Set<string>();

/** Changes the newest FleetRollout of the namespace. */
async function steer({ fleet }: HealthFleet, namespace: string, spec: JsonObject): Promise<void> {
  const { items } = await fleet.client.list(FleetRollout, { cluster: "hub", namespace });
  const [newest] = items.toSorted((a, b) => b.spec.number - a.spec.number);
  const key = { cluster: "hub", namespace, name: newest?.metadata.name ?? "" };
  await fleet.client.patch(FleetRollout, key, { spec }, { type: "merge" });
}

const webhook = { url: "http://127.0.0.1:1/open", interval: "30s", failureLimit: 1000 };

const broken = (
  cause: RegExp,
  waves: JsonObject,
  spec: JsonObject,
  next: NonNullable<Broken["next"]>,
  more: Manifest[] = [],
): Broken => ({
  hub: (ns) => [
    strategy(ns, spec, waves),
    released(ns),
    dividedCloneSets(ns),
    ...more.map((each) => ({ ...each, metadata: { ...each.metadata, namespace: ns } })),
  ],
  next,
  why: "cloneset/web",
  cause,
});

export const brokenReleases: Record<string, Broken> = {
  "a release that failed and is paused": broken(
    /release web-\w+ failed in wave canary and is paused, [012] of 4 pods updated: .*ImagePullBackOff/,
    {},
    {},
    release("web:broken"),
  ),
  "a release that was rolled back": broken(
    /release web-\w+ failed in wave canary and was rolled back to web-\w+: m1: .*ImagePullBackOff/,
    {},
    { failure: { action: "Rollback" } },
    release("web:broken"),
  ),
  "a release that was aborted": broken(
    /release web-\w+ was aborted and was rolled back to web-\w+/,
    { before: [{ approval: {} }] },
    {},
    async (world, ns) => {
      await release("web:2")(world, ns);
      await world.fleet.run(20_000);
      await steer(world, ns, { abort: true });
    },
  ),
  "a release that waits for an approval": broken(
    /release web-\w+ in wave all \(2 of 2\), 2 of 4 pods updated, waits for approval/,
    { before: [{ approval: {} }] },
    {},
    release("web:2"),
  ),
  "a release that a person paused": broken(
    /release web-\w+ is paused in wave \w+ \(\d of 2\), \d of 4 pods updated/,
    { before: [{ approval: {} }] },
    {},
    async (world, ns) => {
      await release("web:2")(world, ns);
      await world.fleet.run(5_000);
      await steer(world, ns, { paused: true });
    },
  ),
  "a release whose webhook does not answer": broken(
    /release web-\w+ in wave all \(2 of 2\), 2 of 4 pods updated, waits for a gate that does not open: webhook before all: .*ECONNREFUSED/,
    { before: [{ webhook }] },
    {},
    release("web:2"),
  ),
  "a release whose gate failed": broken(
    /release web-\w+ failed in wave all and is paused, 2 of 4 pods updated: the webhook gate before wave all failed: .*ECONNREFUSED/,
    { before: [{ webhook: { ...webhook, failureLimit: 1 } }] },
    {},
    release("web:2"),
  ),
  "a release that a disruption budget blocks": broken(
    /release web-\w+ in .*0 of 4 pods updated, has made no progress for \d+ min(?: \d+ s)?: waits for the budget none/,
    {},
    { failure: { progressDeadline: "30s" } },
    release("web:2"),
    [
      object("flotilla.dev/v1alpha1", "FleetDisruptionBudget", "", "none", {
        spec: { selector: { matchLabels: { release: "careful" } }, maxUnavailable: 0 },
      }),
    ],
  ),
  "a change that the hub cannot record as a release": broken(
    /the change of the template is not released: .*no more FleetRollouts here/,
    {},
    {},
    async (world, ns) => {
      withoutReleases.add(ns);
      await release("web:2")(world, ns);
    },
  ),
};
