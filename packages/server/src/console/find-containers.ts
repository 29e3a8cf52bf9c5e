/** Finds the containers of a workload on one member, through the cluster proxy: those of the pods that its selector has. */
import { HUB } from "@flotilla/apimachinery";
import { defined, FlotillaError, isObject } from "@flotilla/base";
import type { JsonObject } from "@flotilla/base";
import { createKindResolver, queryText, readJson, readText, resourcePath } from "@flotilla/client";
import type { Client } from "@flotilla/client";
import { Pod } from "@flotilla/kubernetes";
import type { ObjectRef } from "@flotilla/web";
import { numberOf, objectAt, objectsAt, reasonIn, selectorOf, textAt } from "./json-access.ts";
import type { ReadonlyObject } from "./json-access.ts";
import { memberPath } from "./member-path.ts";
import type { FoundContainer } from "./plan-follows.ts";

/** Of one member: more cannot be followed at once anyway. */
export const MAX_PODS = 100;

export interface FoundContainers {
  containers: FoundContainer[];
  hasMore: boolean;
}

interface FinderOptions {
  client: Client;
  ref: ObjectRef;
  /** Only of this pod. */
  pod: string | undefined;
  /** Only those with this name. */
  container: string | undefined;
  signal: AbortSignal;
}

/** Of all pods of a namespace, of one, or of a subresource of it. */
export const podPath = (namespace: string, name?: string, subresource?: string): string =>
  resourcePath({
    cluster: HUB,
    group: Pod.group,
    version: Pod.storageVersion,
    resource: Pod.plural,
    namespace,
    ...defined({ name, subresource }),
  });

export function createContainerFinder(options: FinderOptions): (member: string) => Promise<FoundContainers> {
  const { client, ref, pod: wantedPod, container: wantedContainer, signal } = options;
  const kinds = createKindResolver({ client, cluster: HUB });

  /** Undefined when it does not exist. */
  async function getJson(member: string, path: string): Promise<JsonObject | undefined> {
    const { status, body } = await client.raw(
      { method: "GET", path: memberPath(member, path), cluster: HUB, headers: { accept: "application/json" } },
      signal,
    );
    if (status !== 200) {
      const reason = reasonIn(await readText(body));
      if (status === 404) return undefined;
      throw new FlotillaError("Member", reason);
    }
    const answer = await readJson(body);
    return isObject(answer) ? answer : {};
  }

  return async (member) => {
    const isWanted = ({ pod, container }: FoundContainer): boolean =>
      (wantedPod === undefined || wantedPod === pod) &&
      (wantedContainer === undefined || wantedContainer === container);
    const found = (pods: readonly ReadonlyObject[], hasMore: boolean): FoundContainers => ({
      containers: pods.flatMap((pod) => containersOf(member, pod)).filter(isWanted),
      hasMore,
    });
    const single = ref.kind === "Pod" ? ref.name : wantedPod;
    if (single !== undefined) {
      const pod = await getJson(member, podPath(ref.namespace, single));
      return found(pod ? [pod] : [], false);
    }
    const kind = await kinds.resolve(ref);
    const { group, storageVersion: version, plural: resource } = kind;
    const { namespace, name } = ref;
    const owner = await getJson(member, resourcePath({ cluster: HUB, group, version, resource, namespace, name }));
    if (!owner) throw new FlotillaError("Member", `${ref.kind} ${namespace}/${name} not found`);
    const selector = selectorOf(owner);
    if (selector === "") return found([], false);
    const query = { labelSelector: selector, limit: String(MAX_PODS) };
    const list = await getJson(member, `${podPath(ref.namespace)}${queryText(query)}`);
    return found(objectsAt(list, "items"), textAt(objectAt(list, "metadata"), "continue") !== "");
  };
}

function containersOf(member: string, pod: ReadonlyObject): FoundContainer[] {
  const name = textAt(objectAt(pod, "metadata"), "name");
  const statuses = new Map(
    objectsAt(objectAt(pod, "status"), "containerStatuses").map((status) => [textAt(status, "name"), status]),
  );
  return objectsAt(objectAt(pod, "spec"), "containers").map((each) => {
    const container = textAt(each, "name");
    const status = statuses.get(container);
    return {
      member,
      pod: name,
      container,
      isRunning: isObject(objectAt(status, "state")["running"]),
      run: [
        textAt(objectAt(pod, "metadata"), "uid"),
        textAt(status, "containerID"),
        numberOf(status?.["restartCount"]),
      ].join(),
    };
  });
}
