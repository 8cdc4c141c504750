/* Step functions: a value holds from its time on until the next. */

/** Several step functions over one axis of all their times; before the first and after the last
 * value of one there is nothing (null). */
export function aligned(curves) {
  const times = Float64Array.from(curves.flatMap((curve) => curve.time_s)).sort();
  const x = [];
  for (const time of times) if (x.at(-1) !== time) x.push(time);
  return { x, values: curves.map((curve) => sampled(curve, x)) };
}

function sampled({ time_s, values }, x) {
  const found = new Array(x.length).fill(null);
  let at = -1;
  for (let place = 0; place < x.length; place += 1) {
    while (at + 1 < time_s.length && time_s[at + 1] <= x[place]) at += 1;
    const over = at === time_s.length - 1 && x[place] > time_s[at];
    if (at >= 0 && !over) found[place] = values[at];
  }
  return found;
}
