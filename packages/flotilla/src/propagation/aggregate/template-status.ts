/**
 * Writes the status of templates: one StatusWriter for each kind that is aggregated, until the CRD of the kind is
 * deleted.
 */
import { formatApiVersion } from "@flotilla/apimachinery";
import type { KubernetesObject } from "@flotilla/apimachinery";
import type { Clock, Log } from "@flotilla/base";
import type { Client } from "@flotilla/client";
import { createStatusWriter } from "@flotilla/controller-runtime";
import type { EventRecorder, Informers, ObjectEvent, StatusWriter } from "@flotilla/controller-runtime";
import { CustomResourceDefinition } from "@flotilla/kubernetes";
import { STATUS_WINDOW_MS } from "../../delivery/status-timing.ts";
import type { Interpreter } from "../../interpreter/interpreter.ts";
import type { Templates } from "../templates/templates.ts";

export interface TemplateStatus {
  /** The writer of a kind. Throws `UnknownKindError` when the hub does not serve it in this version. */
  of(ref: { apiVersion: string; kind: string }): Promise<StatusWriter<KubernetesObject>>;
  /**
   * Whether an event is a write of these, and sums the same again. A rule of a user may not: it may read the status that it
   * changes.
   */
  wrote(event: ObjectEvent): boolean;
  isQuiet(): boolean;
  close(): Promise<void>;
}

export interface TemplateStatusDependencies {
  hub: string;
  client: Client;
  informers: Informers;
  templates: Pick<Templates, "kindOf">;
  interpreter: Pick<Interpreter, "ownerOf">;
  events: EventRecorder;
  clock: Clock;
  log: Log;
}

export function createTemplateStatus(deps: TemplateStatusDependencies): TemplateStatus {
  const { hub, client, informers, templates, interpreter, events, clock, log } = deps;
  const writers = new Map<string, StatusWriter<KubernetesObject>>();
  /** Writers of deleted kinds with a write in progress. */
  const closing = new Set<StatusWriter<KubernetesObject>>();
  const idOf = (apiVersion: string, kind: string): string => `${apiVersion}/${kind}`;

  function retire(id: string): void {
    const writer = writers.get(id);
    if (!writer) return;
    writers.delete(id);
    closing.add(writer);
    void writer.close().then(() => closing.delete(writer));
  }
  informers.of(CustomResourceDefinition).subscribe(({ object: { spec }, deleted }) => {
    if (!deleted) return;
    for (const { name } of spec.versions) retire(idOf(formatApiVersion(spec.group, name), spec.names.kind));
  });

  return {
    async of(ref) {
      const id = idOf(ref.apiVersion, ref.kind);
      const known = writers.get(id);
      if (known) return known;
      const kind = await templates.kindOf(ref);
      let writer = writers.get(id);
      if (!writer) {
        writer = createStatusWriter<KubernetesObject>({
          client,
          kind,
          lister: { get: (key) => informers.of<KubernetesObject>(kind, "while-served").get(key) },
          clock,
          windowMs: STATUS_WINDOW_MS,
          log,
          onRejected: (template, { message }) => {
            const owner = interpreter.ownerOf("aggregateStatus", template);
            events.record(hub, template, {
              type: "Warning",
              reason: "AggregateStatusFailed",
              message:
                owner === undefined ? message : `the hub rejects the status of AggregateStatus of ${owner}: ${message}`,
            });
          },
          onRecovered: (template) =>
            events.record(hub, template, {
              type: "Normal",
              reason: "AggregateStatusSucceed",
              message: "Update Resource with AggregatedStatus successfully.",
            }),
        });
        writers.set(id, writer);
      }
      return writer;
    },
    wrote: (event) =>
      (writers.get(idOf(event.object.apiVersion, event.object.kind))?.wrote(event) ?? false) &&
      interpreter.ownerOf("aggregateStatus", event.object) === undefined,
    isQuiet: () => [...writers.values(), ...closing].every((writer) => writer.isQuiet()),
    async close() {
      await Promise.all([...writers.values(), ...closing].map((writer) => writer.close()));
    },
  };
}
