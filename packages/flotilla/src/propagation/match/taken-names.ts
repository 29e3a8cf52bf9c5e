/**
 * Templates that wait for the name of their binding. Karmada derives binding names from kind and name without the API
 * group, so two objects of different groups can need the same name. The first keeps it; the others are notified, and
 * retried when it is free.
 */
import type { TemplateKey } from "../templates/templates.ts";
import { bindingName } from "@flotilla/karmada";

export interface TakenNames {
  wait(key: TemplateKey): void;
  /** The template no longer waits, for any reason. */
  leave(key: TemplateKey): void;
  /** Templates that wait for this template's binding name. */
  waitingFor(key: TemplateKey): TemplateKey[];
}

export function createTakenNames(): TakenNames {
  const waiting = new Map<string, Map<string, TemplateKey>>();
  const nameOf = ({ kind, namespace, name }: TemplateKey): string => `${namespace}/${bindingName(kind, name)}`;
  const idOf = ({ group, kind, name }: TemplateKey): string => `${group}/${kind}/${name}`;

  return {
    wait(key) {
      const row = waiting.get(nameOf(key)) ?? new Map<string, TemplateKey>();
      waiting.set(nameOf(key), row.set(idOf(key), key));
    },
    leave(key) {
      if (waiting.size === 0) return;
      const row = waiting.get(nameOf(key));
      if (row?.delete(idOf(key)) && row.size === 0) waiting.delete(nameOf(key));
    },
    waitingFor: (key) => (waiting.size === 0 ? [] : [...(waiting.get(nameOf(key))?.values() ?? [])]),
  };
}
