/** Small state that several views share. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Topic } from "../../src/wire.ts";
import { request } from "../session.ts";
import { subscribe } from "../stream.ts";

export interface Loaded<T> {
  value: T | undefined;
  error: string;
  loading: boolean;
  reload(): void;
}

/** Reads when `key` changes; an answer that arrives after the next question is dropped. */
export function useLoaded<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; value: T | undefined; error: string }>({
    key: "",
    value: undefined,
    error: "",
  });
  const [attempt, setAttempt] = useState(0);
  const reader = useRef(read);
  reader.current = read;
  useEffect(() => {
    const stop = new AbortController();
    reader.current(stop.signal).then(
      (value) => !stop.signal.aborted && setState({ key, value, error: "" }),
      (error: Error) =>
        !stop.signal.aborted &&
        setState((old) => ({ key, value: old.key === key ? old.value : undefined, error: error.message })),
    );
    return () => stop.abort();
  }, [key, attempt]);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : undefined,
    error: isCurrent ? state.error : "",
    loading: !isCurrent,
    reload,
  };
}

/** The newest message of a topic. */
export function useTopic<T>(topic: Topic): { value: T | undefined; error: string } {
  const [state, setState] = useState<{ value: T | undefined; error: string }>({ value: undefined, error: "" });
  const key = JSON.stringify(topic);
  useEffect(() => {
    setState({ value: undefined, error: "" });
    return subscribe<T>(
      JSON.parse(key) as Topic,
      (value) => setState({ value, error: "" }),
      (error) => setState({ value: undefined, error }),
    );
  }, [key]);
  return state;
}

/** Redraws what shows ages. */
export function useNow(everyMs = 5_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export interface Right {
  verb: string;
  group: string;
  resource: string;
  subresource?: string;
  namespace?: string;
  name?: string;
}

/** Undefined while the hub is asked. */
export function useRights(rights: readonly Right[]): readonly (boolean | undefined)[] {
  const key = JSON.stringify(rights);
  const { value } = useLoaded(key, (signal) =>
    request<boolean[]>("rights", { method: "POST", body: { questions: rights }, signal }),
  );
  return rights.map((_, index) => value?.[index]);
}

/** `patch clusters.cluster.karmada.io` */
export const rightText = ({ verb, group, resource, subresource, namespace }: Right): string =>
  `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}${group === "" ? "" : `.${group}`}` +
  (namespace === undefined || namespace === "" ? "" : ` -n ${namespace}`);
