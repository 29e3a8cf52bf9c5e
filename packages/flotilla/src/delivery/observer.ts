/**
 * Routes events of the members' informers to the listeners of each object. One observer serves every member that shares
 * its informers: an event costs one lookup, not one per member or per observed object.
 */
import { HorizontalPodAutoscaler } from "@flotilla/kubernetes";
import { parseApiVersion } from "@flotilla/apimachinery";
import type { AnyKind } from "@flotilla/client";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { DeepReadonly } from "@flotilla/base";
import type { Informer, Informers, Lane } from "@flotilla/controller-runtime";
import { createSettledObjects, type SettledObjects } from "./settled-objects.ts";

/** The lane specifies whether the object changed or is part of an initial list; `old` is its version before. */
export type ObjectListener = (
  object: DeepReadonly<KubernetesObject> | undefined,
  lane?: Lane,
  old?: DeepReadonly<KubernetesObject>,
) => void;
interface ObjectPlace {
  cluster: string;
  namespace?: string;
  name: string;
}

export interface Observer {
  informer(kind: AnyKind): Informer<KubernetesObject>;
  /** What the deliveries to these members found in place or wrote. */
  readonly settled: SettledObjects;
  /** Calls back with the object after every change, and with undefined when it is deleted. */
  listen(kind: AnyKind, place: ObjectPlace, listener: ObjectListener): () => void;
  /**
   * The name of an autoscaler that scales this object; `unknown` while the member's autoscalers are not listed.
   * Autoscalers are watched from the first call on, and the listeners of an object are called when one of its
   * autoscalers is created or deleted.
   */
  autoscalerOf(kind: AnyKind, place: ObjectPlace): { name: string } | "none" | "unknown";
}

/** The listeners of the objects of one kind. */
interface Route {
  readonly kind: AnyKind;
  readonly byPlace: Map<string, Set<ObjectListener>>;
  unsubscribe(): void;
}

const routeId = ({ group, storageVersion, plural }: AnyKind): string => `${group}/${storageVersion}/${plural}`;

const BY_TARGET = "delivery.scaleTarget";

export function createObserver(informers: Informers): Observer {
  const routes = new Map<string, Route>();
  /** By group and kind: an autoscaler names its target without a plural. */
  const routesByKind = new Map<string, Set<Route>>();
  let autoscalers: Informer<HorizontalPodAutoscaler> | undefined;

  const informer = (kind: AnyKind): Informer<KubernetesObject> => informers.of<KubernetesObject>(kind, "while-served");

  function openRoute(kind: AnyKind): Route {
    const byPlace: Route["byPlace"] = new Map();
    const unsubscribe = informer(kind).subscribe(({ cluster, object, old, deleted }, lane) => {
      const { namespace, name } = object.metadata;
      for (const listener of byPlace.get(placeId({ cluster, namespace, name })) ?? [])
        listener(deleted ? undefined : object, lane, old);
    });
    const route: Route = { kind, byPlace, unsubscribe };
    routes.set(routeId(kind), route);
    const known = routesByKind.get(`${kind.group}/${kind.kind}`) ?? new Set();
    routesByKind.set(`${kind.group}/${kind.kind}`, known.add(route));
    return route;
  }

  /** Lets the informer of the kind be closed once no member serves the kind. */
  function closeRoute(route: Route): void {
    const { kind } = route;
    const id = `${kind.group}/${kind.kind}`;
    route.unsubscribe();
    routes.delete(routeId(kind));
    const known = routesByKind.get(id);
    known?.delete(route);
    if (known?.size === 0) routesByKind.delete(id);
  }

  function followAutoscalers(): Informer<HorizontalPodAutoscaler> {
    const found = informers.of(HorizontalPodAutoscaler);
    found.addIndex(BY_TARGET, ({ metadata, spec }, cluster) => [
      targetId(
        spec.scaleTargetRef,
        placeId({ cluster, namespace: metadata.namespace, name: spec.scaleTargetRef.name }),
      ),
    ]);
    found.subscribe(({ cluster, object, old, deleted }) => {
      // A status-only update of an autoscaler does not affect its target.
      if (
        old &&
        !deleted &&
        old.metadata.generation === object.metadata.generation &&
        targetOf(old) === targetOf(object)
      )
        return;
      for (const { metadata, spec } of old ? [old, object] : [object]) {
        const place = { cluster, namespace: metadata.namespace || undefined, name: spec.scaleTargetRef.name };
        for (const { kind, byPlace } of routesByKind.get(groupKind(spec.scaleTargetRef)) ?? []) {
          for (const listener of byPlace.get(placeId(place)) ?? []) listener(informer(kind).get(place));
        }
      }
    });
    return found;
  }

  return {
    informer,
    settled: createSettledObjects(informer),
    autoscalerOf(kind, place) {
      autoscalers ??= followAutoscalers();
      if (!autoscalers.synced) return "unknown";
      const [found] = autoscalers.by(BY_TARGET, `${kind.group}/${kind.kind}/${placeId(place)}`);
      return found ? { name: found.metadata.name } : "none";
    },
    listen(kind, place, listener) {
      const route = routes.get(routeId(kind)) ?? openRoute(kind);
      const { byPlace } = route;
      const id = placeId(place);
      const listeners = byPlace.get(id) ?? new Set();
      byPlace.set(id, listeners.add(listener));
      return () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        byPlace.delete(id);
        if (byPlace.size === 0) closeRoute(route);
      };
    },
  };
}

function placeId({
  cluster,
  namespace,
  name,
}: {
  cluster: string;
  namespace?: string | undefined;
  name: string;
}): string {
  return `${cluster}/${namespace ?? ""}/${name}`;
}

type TargetRef = DeepReadonly<HorizontalPodAutoscaler>["spec"]["scaleTargetRef"];

/** Versions do not matter: a target is the same object in all of them. */
export const groupKind = ({ apiVersion = "", kind }: TargetRef): string =>
  `${parseApiVersion(apiVersion).group}/${kind}`;
const targetId = (ref: TargetRef, place: string): string => `${groupKind(ref)}/${place}`;
const targetOf = ({ spec }: DeepReadonly<HorizontalPodAutoscaler>): string =>
  targetId(spec.scaleTargetRef, spec.scaleTargetRef.name);
