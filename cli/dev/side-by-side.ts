/** Works on at most so many at once, in their order; what is more waits. */
export function sideBySide(most: number): (work: () => Promise<void>) => void {
  const waiting: (() => Promise<void>)[] = [];
  let busy = 0;
  const next = (): void => {
    const work = busy < most ? waiting.shift() : undefined;
    if (work === undefined) return;
    busy += 1;
    const over = (): void => {
      busy -= 1;
      next();
    };
    void work().then(over, over);
  };
  return (work) => {
    waiting.push(work);
    next();
  };
}
