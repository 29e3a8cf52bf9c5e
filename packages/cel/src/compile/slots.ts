/** Maps names to slots of the frame during compilation. */
import type { Evaluate } from "../values/frame.ts";

export interface Binding {
  readonly slot: number;
  /** Computes the value on first use. */
  readonly lazy?: Evaluate;
}

export class Scope {
  private readonly layout: { size: number };
  private readonly names: ReadonlyMap<string, Binding>;

  private constructor(layout: { size: number }, names: ReadonlyMap<string, Binding>) {
    this.layout = layout;
    this.names = names;
  }

  static of(variables: readonly string[]): Scope {
    return new Scope({ size: variables.length }, new Map(variables.map((name, slot) => [name, { slot }])));
  }

  /** Slots that the whole program needs. */
  get size(): number {
    return this.layout.size;
  }

  find(name: string): Binding | undefined {
    return this.names.get(name.startsWith(".") ? name.slice(1) : name);
  }

  /** Binds a name to a new slot; consecutive loops do not share slots, which costs little and is always correct. */
  with(name: string, lazy?: Evaluate): { scope: Scope; slot: number } {
    const slot = this.layout.size++;
    return { slot, scope: new Scope(this.layout, new Map([...this.names, [name, lazy ? { slot, lazy } : { slot }]])) };
  }
}
