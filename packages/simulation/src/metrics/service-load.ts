/**
 * Load on Services: the annotation `simulation.flotilla.dev/cpu-load` on a Service says how many cores its clients keep
 * busy in its pods. The load is divided among the ready pods, so more pods mean less for each, as an autoscaler expects.
 *
 * Reads: Service, Pod.
 */
import { isReady, Pod, Service } from "@flotilla/kubernetes";
import type { ReadonlyPod } from "@flotilla/kubernetes";
import type { DeepReadonly } from "@flotilla/base";
import type { Informers } from "@flotilla/controller-runtime";
import { milli } from "../amounts.ts";
import { CPU_LOAD, annotationOf } from "../annotations.ts";

type ReadonlyService = DeepReadonly<Service>;

/** Thousandths of a core that a pod uses for the Services that select it; undefined if none has load. */
export type LoadOf = (cluster: string, pod: ReadonlyPod) => number | undefined;

interface Share {
  selector: Readonly<Record<string, string>>;
  cpuMilli: number;
}

export function createServiceLoad(informers: Informers): LoadOf {
  const pods = informers.of(Pod);
  /** Services with load by namespace and name. Namespaces without any are absent, so members without load cost nothing. */
  const loaded = new Map<string, Map<string, ReadonlyService>>();
  /** The share of a ready pod by namespace; dropped when a Service or a pod there changes. */
  const shares = new Map<string, readonly Share[]>();
  const idOf = (cluster: string, namespace = ""): string => `${cluster}/${namespace}`;

  informers.of(Service).subscribe(({ cluster, object, deleted }) => {
    const { namespace, name } = object.metadata;
    const id = idOf(cluster, namespace);
    shares.delete(id);
    const services = loaded.get(id) ?? new Map<string, ReadonlyService>();
    if (deleted || annotationOf(object, CPU_LOAD) === undefined) services.delete(name);
    else services.set(name, object);
    if (services.size > 0) loaded.set(id, services);
    else loaded.delete(id);
  });
  pods.subscribe(({ cluster, object }) => {
    if (loaded.size > 0) shares.delete(idOf(cluster, object.metadata.namespace));
  });

  function sharesIn(cluster: string, namespace: string): readonly Share[] {
    const id = idOf(cluster, namespace);
    const services = loaded.get(id);
    if (!services) return [];
    const known = shares.get(id);
    if (known) return known;
    const ready = pods.list({ cluster, namespace }).filter(isServing);
    const found = [...services.values()].flatMap((service): Share[] => {
      const { selector = {} } = service.spec ?? {};
      if (Object.keys(selector).length === 0) return [];
      const count = ready.filter((pod) => isSelected(selector, pod)).length;
      return count === 0 ? [] : [{ selector, cpuMilli: milli(annotationOf(service, CPU_LOAD)) / count }];
    });
    shares.set(id, found);
    return found;
  }

  return (cluster, pod) => {
    if (loaded.size === 0 || !isServing(pod)) return undefined;
    const own = sharesIn(cluster, pod.metadata.namespace ?? "").filter(({ selector }) => isSelected(selector, pod));
    return own.length === 0 ? undefined : own.reduce((sum, { cpuMilli }) => sum + cpuMilli, 0);
  };
}

const isServing = (pod: ReadonlyPod): boolean => isReady(pod) && pod.metadata.deletionTimestamp === undefined;

const isSelected = (selector: Readonly<Record<string, string>>, { metadata: { labels = {} } }: ReadonlyPod): boolean =>
  Object.entries(selector).every(([key, value]) => labels[key] === value);
