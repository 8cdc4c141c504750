/* Finds the data in the page and brings it to life. */
"use strict";
(function (w) {
  function views(clock) {
    const known = {};
    return (spec) => {
      if (spec.kind !== "time") {
        return new w.View(...spec.range, spec.kind === "wait");
      }
      known.time = known.time || new w.View(...clock);
      return known.time;
    };
  }

  function drawAll(data) {
    const viewOf = views(data.clock);
    for (const spec of data.charts) {
      const place = document.querySelector(`[data-chart="${CSS.escape(spec.id)}"]`);
      try {
        const Kind = spec.form === "map" ? w.JobMap : w.Chart;
        new Kind(place, spec, viewOf(spec));
      } catch (error) {
        place.textContent = `This chart cannot be drawn (${error.message}); the pictures lie `
          + "beside this page as files.";
        console.error(error);
      }
    }
  }

  function start() {
    document.documentElement.classList.add("js");
    w.theme.start(document.querySelector("[data-theme-switch]"));
    document.querySelectorAll("table[data-sortable]").forEach(w.tables.start);
    drawAll(JSON.parse(document.getElementById("chart-data").textContent));
  }

  start();
})(wattline);
