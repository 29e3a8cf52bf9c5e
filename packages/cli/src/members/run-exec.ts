/** Implements `flotilla exec`: finds the pod, and runs the command there. */
import { missingText, named, nowhere } from "./outcome.ts";
import { FlotillaError, UsageError } from "@flotilla/base";
import type { HubConnection } from "../command.ts";
import type { Output } from "../output.ts";
import { ask } from "./ask.ts";
import type { Asking } from "./ask.ts";
import { createDiscovery } from "./discovery.ts";
import { failureLine } from "./each-place.ts";
import { execute } from "./exec-session.ts";
import { findPlaces, readNames } from "./members-places.ts";
import type { Place } from "./members-places.ts";
import { findPods } from "./pods.ts";
import type { FoundPod, FoundPods } from "./pods.ts";
import type { Terminal } from "../terminal.ts";

interface ExecOptions {
  /** `web-1` or `deployment/web`. */
  named: string;
  namespace: string;
  clusters: readonly string[];
  container?: string;
  command: readonly string[];
  stdin: boolean;
  tty: boolean;
}

export async function runExec(
  options: ExecOptions,
  { hub, asking, output, terminal }: { hub: HubConnection; asking: Asking; output: Output; terminal: Terminal },
): Promise<number> {
  const places = await findPlaces(hub.client, readNames(options.clusters), asking.signal);
  if (places.length === 0)
    throw new FlotillaError("NoMembers", "the fleet has no members; add one with 'flotilla join'");
  const discovery = createDiscovery((place, path, accept) => ask(asking, place, path, accept));
  const found = await findPods(asking, discovery, places, options);
  for (const failure of found.failures) output.warn(output.called(failureLine(failure)));
  const pod = choosePod(found, options, places);
  const container = options.container ?? pod.defaultContainer;
  if (![...pod.containers, ...pod.initContainers].includes(container))
    throw new UsageError(
      `pod ${pod.name} on ${pod.place.name} has no container '${container}'; it has ${pod.containers.join(", ")}`,
    );
  if (options.named.includes("/") && !/^pods?\//.test(options.named))
    output.warn(`in pod ${pod.name} on ${pod.place.name}`);
  const tty = options.tty && terminal.isInteractive;
  if (options.tty && !tty) output.warn("input or output is not a terminal, so no terminal is allocated");
  output.progress("");
  return execute(
    hub.upgrade,
    { pod, container, command: options.command, stdin: options.stdin, tty },
    terminal,
    asking,
  );
}

/** The first running pod of a workload on one member. Throws when there is none, or when several members have it. */
export function choosePod(
  { pods, failures, hasOwner }: FoundPods,
  { named: what, namespace }: Pick<ExecOptions, "named" | "namespace">,
  asked: readonly Place[],
): FoundPod {
  const clusters = [...new Set(pods.map(({ place }) => place.name))];
  if (clusters.length > 1) throw new UsageError(`${what} is on ${named(clusters)}; select one with --clusters`);
  const pod = pods.find(({ isRunning }) => isRunning) ?? pods[0];
  if (pod) return pod;
  throw nowhere(missingText(what, hasOwner), ` in namespace ${namespace}`, asked, failures);
}
