//! Plots as SVG: axes, ticks, lines with their points or groups of bars, a legend.
//!
//! A plot is self-contained: no script, no font to load, no background, and colours that most
//! people can distinguish on white and on black (M. Okabe and K. Ito, "Color universal design",
//! 2008). The legend lists lines in the order of their last points, from top to bottom.

use std::fmt::Write;

use clewline_report::render::grouped;

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Its title.
    pub title: String,
    /// Left to right.
    pub x: Axis,
    /// Bottom to top.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// The quantity, with its unit.
    pub label: String,
    /// How.
    pub scale: Scale,
}

/// How numbers are laid out along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// By their difference, from 0 on.
    Linear,
    /// Logarithmic. Values that are not above 0 are left out.
    Logarithmic,
    /// By their ratio, with ticks at powers of two.
    Binary,
    /// Groups with these names, each as wide as the difference of 1, from 0 on.
    Names(&'static [&'static str]),
}

/// A line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Lines of the same hue have the same colour.
    pub hue: usize,
    /// How it is drawn.
    pub stroke: Stroke,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Without gaps.
    Solid,
    /// With gaps.
    Dashed,
    /// Not at all: its points alone, as crosses.
    Points,
    /// Thin and grey, and without its points: a reference for others.
    Guide,
    /// A bar from the bottom to each point.
    Bars,
}

const PLOT_HEIGHT_PX: f64 = 440.0;
const PLOT_LEFT_PX: f64 = 84.0;
const PLOT_RIGHT_PX: f64 = 590.0;
const PLOT_TOP_PX: f64 = 56.0;
const PLOT_BOTTOM_PX: f64 = 376.0;

// The maximum average width of a character, for any font.
const LETTER_WIDTH_PX: f64 = 7.5;
const TITLE_LETTER_WIDTH_PX: f64 = 10.0;

// About how many pixels lie between two ticks, at least.
const TICK_GAP_PX: f64 = 56.0;

const HUES: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c8c8c", "#aa3377"];

const STYLE: &str = "\
text { font: 13px system-ui, sans-serif; fill: #404040 }
.title { font-size: 16px; font-weight: 600 }
.axis { stroke: #808080; fill: none }
.grid { stroke: #808080; stroke-opacity: 0.25; fill: none }
.bar { stroke-width: 5; fill: none }
.line { stroke-width: 2; fill: none; stroke-linejoin: round }
@media (prefers-color-scheme: dark) { text { fill: #d0d0d0 } }
";

/// The plots as one SVG file, one below the other.
#[must_use]
pub fn svg(plots: &[Plot]) -> String {
    let width = plots.iter().map(width).fold(0.0, f64::max);
    let height = PLOT_HEIGHT_PX * plots.len() as f64;
    let title = plots.first().map_or("", |it| it.title.as_str());
    let mut page = Page::default();
    page.add(&format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\">\n<title>{title}</title>\n<style>\n{STYLE}</style>",
        title = escaped(title)
    ));
    for (place, plot) in plots.iter().enumerate() {
        if 0 < place {
            page.add(&format!("<g transform=\"translate(0 {})\">", PLOT_HEIGHT_PX * place as f64));
        }
        page.plot(plot);
        if 0 < place {
            page.add("</g>");
        }
    }
    page.add("</svg>");
    page.0
}

fn width(plot: &Plot) -> f64 {
    let longest = plot.series.iter().map(|it| it.name.chars().count()).max().unwrap_or(0);
    let names_end = PLOT_RIGHT_PX + 64.0 + LETTER_WIDTH_PX * longest as f64;
    let title_end = PLOT_LEFT_PX + TITLE_LETTER_WIDTH_PX * plot.title.chars().count() as f64;
    names_end.max(title_end).ceil()
}

/// The series with points, by their last values, highest first; bars from left to right.
fn by_last(series: &[Series]) -> Vec<&Series> {
    let mut series: Vec<&Series> = series.iter().filter(|it| !it.points.is_empty()).collect();
    if series.iter().any(|it| it.stroke == Stroke::Bars) {
        return series;
    }
    let last = |it: &Series| it.points.last().map_or(0.0, |it| it.1);
    series.sort_by(|a, b| last(b).total_cmp(&last(a)));
    series
}

impl Plot {
    fn values(&self, value: fn(&(f64, f64)) -> f64) -> Vec<f64> {
        self.series.iter().flat_map(|it| &it.points).map(value).collect()
    }
}

/// From numbers to pixels, along one axis.
struct Ruler {
    scale: Scale,
    // In pixels.
    from: f64,
    to: f64,
    // The numbers there: of a logarithmic scale, their logarithms.
    least: f64,
    greatest: f64,
}

struct Tick {
    value: f64,
    label: String,
}

impl Ruler {
    fn new(scale: Scale, values: Vec<f64>, from: f64, to: f64) -> Ruler {
        let mut ruler = Ruler { scale, from, to, least: 0.0, greatest: 1.0 };
        let values = values.into_iter().filter(|&it| ruler.holds(it)).map(|it| ruler.measure(it));
        let ends = values.fold(None, |ends: Option<(f64, f64)>, it| match ends {
            None => Some((it, it)),
            Some((least, greatest)) => Some((least.min(it), greatest.max(it))),
        });
        match (scale, ends) {
            (Scale::Names(names), _) => ruler.greatest = names.len().max(1) as f64,
            (_, None) => (),
            (Scale::Linear, Some((_, greatest))) => {
                // Up to the next tick.
                let greatest = if greatest == 0.0 { 1.0 } else { greatest };
                let step = ruler.step(greatest);
                ruler.greatest = (greatest / step - 1e-9).ceil() * step;
            }
            (Scale::Logarithmic | Scale::Binary, Some((least, greatest))) => {
                ruler.least = least.floor();
                ruler.greatest = greatest.ceil().max(ruler.least + 1.0);
            }
        }
        ruler
    }

    fn holds(&self, value: f64) -> bool {
        match self.scale {
            Scale::Linear => value.is_finite() && 0.0 <= value,
            Scale::Names(names) => (0.0..=names.len() as f64).contains(&value),
            Scale::Logarithmic | Scale::Binary => value.is_finite() && 0.0 < value,
        }
    }

    fn measure(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear | Scale::Names(_) => value,
            Scale::Logarithmic => value.log10(),
            Scale::Binary => value.log2(),
        }
    }

    fn place(&self, value: f64) -> f64 {
        let share = (self.measure(value) - self.least) / (self.greatest - self.least);
        self.from + share * (self.to - self.from)
    }

    /// The distance of ticks, 1, 2 or 5 times a power of ten, on a linear scale up to `greatest`.
    fn step(&self, greatest: f64) -> f64 {
        let rough = greatest * TICK_GAP_PX / (self.to - self.from).abs();
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0].into_iter().map(|it| it * power).find(|&it| rough <= it);
        step.unwrap_or(10.0 * power)
    }

    fn ticks(&self) -> Vec<Tick> {
        match self.scale {
            Scale::Names(names) => {
                let tick =
                    |(at, name): (usize, &&str)| Tick { value: at as f64 + 0.5, label: (*name).to_owned() };
                names.iter().enumerate().map(tick).collect()
            }
            Scale::Linear => {
                let step = self.step(self.greatest);
                let decimals = (-step.log10().floor()).max(0.0) as usize;
                let count = (self.greatest / step + 1e-9).floor() as u32;
                let tick = |it: u32| {
                    let value = f64::from(it) * step;
                    Tick { value, label: label(value, decimals) }
                };
                (0..=count).map(tick).collect()
            }
            Scale::Logarithmic => {
                let tick = |power: i32| {
                    let decimals = (-power).max(0) as usize;
                    let value = 10_f64.powi(power);
                    Tick { value, label: label(value, decimals) }
                };
                (self.least as i32..=self.greatest as i32).map(tick).collect()
            }
            Scale::Binary => {
                let gap = (self.to - self.from).abs() / (self.greatest - self.least);
                let step = (TICK_GAP_PX / gap).ceil().max(1.0);
                let tick = |power: i32| {
                    let decimals = (-power).max(0) as usize;
                    let value = 2_f64.powi(power);
                    Tick { value, label: label(value, decimals) }
                };
                (self.least as i32..=self.greatest as i32).step_by(step as usize).map(tick).collect()
            }
        }
    }
}

fn label(value: f64, decimals: usize) -> String {
    match decimals {
        _ if value == 0.0 => "0".to_owned(),
        // There is no room for all of its digits.
        0 if 1e7 <= value && value % 1e6 == 0.0 => format!("{} M", grouped((value / 1e6) as u64)),
        0 => grouped(value.round() as u64),
        _ => format!("{value:.decimals$}"),
    }
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn add(&mut self, element: &str) {
        self.0 += element;
        self.0.push('\n');
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.add(&format!("<path class=\"{class}\" d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\"/>"));
    }

    fn text(&mut self, x: f64, y: f64, attributes: &str, text: &str) {
        let space = if attributes.is_empty() { "" } else { " " };
        self.add(&format!("<text x=\"{x:.1}\" y=\"{y:.1}\"{space}{attributes}>{}</text>", escaped(text)));
    }

    fn plot(&mut self, plot: &Plot) {
        let x = Ruler::new(plot.x.scale, plot.values(|it| it.0), PLOT_LEFT_PX, PLOT_RIGHT_PX);
        let y = Ruler::new(plot.y.scale, plot.values(|it| it.1), PLOT_BOTTOM_PX, PLOT_TOP_PX);
        self.text(PLOT_LEFT_PX, 26.0, "class=\"title\"", &plot.title);
        for tick in x.ticks() {
            let at = x.place(tick.value);
            if !matches!(plot.x.scale, Scale::Names(_)) {
                self.line("grid", (at, PLOT_TOP_PX), (at, PLOT_BOTTOM_PX));
            }
            self.text(at, PLOT_BOTTOM_PX + 20.0, "text-anchor=\"middle\"", &tick.label);
        }
        for tick in y.ticks() {
            let at = y.place(tick.value);
            self.line("grid", (PLOT_LEFT_PX, at), (PLOT_RIGHT_PX, at));
            self.text(PLOT_LEFT_PX - 8.0, at + 4.5, "text-anchor=\"end\"", &tick.label);
        }
        self.line("axis", (PLOT_LEFT_PX, PLOT_BOTTOM_PX), (PLOT_RIGHT_PX, PLOT_BOTTOM_PX));
        self.line("axis", (PLOT_LEFT_PX, PLOT_BOTTOM_PX), (PLOT_LEFT_PX, PLOT_TOP_PX));
        self.text(
            (PLOT_LEFT_PX + PLOT_RIGHT_PX) / 2.0,
            PLOT_BOTTOM_PX + 48.0,
            "text-anchor=\"middle\"",
            &plot.x.label,
        );
        self.text(PLOT_LEFT_PX, PLOT_TOP_PX - 12.0, "", &plot.y.label);
        for series in &plot.series {
            let points: Vec<(f64, f64)> = series
                .points
                .iter()
                .filter(|it| x.holds(it.0) && y.holds(it.1))
                .map(|it| (x.place(it.0), y.place(it.1)))
                .collect();
            self.series(series, &points, PLOT_BOTTOM_PX);
        }
        for (row, series) in by_last(&plot.series).into_iter().enumerate() {
            let at = PLOT_TOP_PX + 8.0 + 22.0 * row as f64;
            let points = match series.stroke {
                Stroke::Points => vec![(PLOT_RIGHT_PX + 38.0, at)],
                Stroke::Bars => vec![(PLOT_RIGHT_PX + 38.0, at - 6.0)],
                Stroke::Solid | Stroke::Dashed | Stroke::Guide => {
                    vec![(PLOT_RIGHT_PX + 24.0, at), (PLOT_RIGHT_PX + 52.0, at)]
                }
            };
            self.series(series, &points, at + 6.0);
            self.text(PLOT_RIGHT_PX + 60.0, at + 4.5, "", &series.name);
        }
    }

    fn bars(&mut self, colour: &str, points: &[(f64, f64)], bottom: f64) {
        for (x, y) in points {
            // A bar of the least value is still seen.
            let top = y.min(bottom - 1.0);
            self.add(&format!(
                "<path class=\"bar\" stroke=\"{colour}\" d=\"M{x:.1} {bottom:.1}V{top:.1}\"/>"
            ));
        }
    }

    fn crosses(&mut self, colour: &str, points: &[(f64, f64)]) {
        for (x, y) in points {
            let (left, top) = (x - 4.0, y - 4.0);
            self.add(&format!(
                "<path class=\"line\" stroke=\"{colour}\" d=\"M{left:.1} {y:.1}h8M{x:.1} {top:.1}v8\"/>"
            ));
        }
    }

    fn series(&mut self, series: &Series, points: &[(f64, f64)], bottom: f64) {
        let colour = HUES[series.hue % HUES.len()];
        let dash = match series.stroke {
            Stroke::Solid => "",
            Stroke::Dashed => " stroke-dasharray=\"6 4\"",
            Stroke::Points => return self.crosses(colour, points),
            Stroke::Bars => return self.bars(colour, points, bottom),
            Stroke::Guide => {
                if let [from, .., to] = points {
                    self.line("axis", *from, *to);
                }
                return;
            }
        };
        let mut path = String::new();
        for (place, (x, y)) in points.iter().enumerate() {
            let pen = if place == 0 { 'M' } else { 'L' };
            let _written_to_a_string = write!(path, "{pen}{x:.1} {y:.1}");
        }
        self.add(&format!("<path class=\"line\" stroke=\"{colour}\"{dash} d=\"{path}\"/>"));
        for (x, y) in points {
            self.add(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"));
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ruler(scale: Scale, values: &[f64]) -> Ruler {
        Ruler::new(scale, values.to_vec(), 0.0, 300.0)
    }

    #[track_caller]
    fn check_ticks(scale: Scale, values: &[f64], expected: &[&str]) {
        let ticks = ruler(scale, values).ticks();
        let labels: Vec<&str> = ticks.iter().map(|it| &*it.label).collect();
        assert_eq!(labels, expected);
    }

    #[test]
    fn ticks_are_round_numbers_that_cover_the_data() {
        check_ticks(
            Scale::Linear,
            &[100_000.0, 1_000_000.0],
            &["0", "200,000", "400,000", "600,000", "800,000", "1,000,000"],
        );
        check_ticks(Scale::Linear, &[0.043], &["0", "0.01", "0.02", "0.03", "0.04", "0.05"]);
        check_ticks(Scale::Linear, &[7.0], &["0", "2", "4", "6", "8"]);
        check_ticks(Scale::Linear, &[0.0], &["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        check_ticks(Scale::Logarithmic, &[0.02, 30.0], &["0.01", "0.1", "1", "10", "100"]);
        check_ticks(Scale::Logarithmic, &[10.0], &["10", "100"]);
        check_ticks(Scale::Logarithmic, &[1e6, 1e8], &["1,000,000", "10 M", "100 M"]);
        check_ticks(Scale::Binary, &[0.5, 8.0], &["0.5", "1", "2", "4", "8"]);
        // Every other one, so that they do not touch.
        check_ticks(Scale::Binary, &[16.0, 16_384.0], &["16", "64", "256", "1,024", "4,096", "16,384"]);
    }

    #[test]
    fn numbers_have_their_place_between_the_ends() {
        let linear = ruler(Scale::Linear, &[10.0]);
        assert_eq!([0.0, 5.0, 10.0].map(|it| linear.place(it)), [0.0, 150.0, 300.0]);
        let logarithmic = ruler(Scale::Logarithmic, &[1.0, 1_000.0]);
        assert_eq!([1.0, 10.0, 1_000.0].map(|it| logarithmic.place(it).round()), [0.0, 100.0, 300.0]);
    }

    fn example(scale: Scale) -> Plot {
        let series = |name: &str, hue, stroke, points: &[(f64, f64)]| Series {
            name: name.to_owned(),
            hue,
            stroke,
            points: points.to_vec(),
        };
        Plot {
            title: "a < b & c".to_owned(),
            x: Axis { label: "operations".to_owned(), scale },
            y: Axis { label: "seconds".to_owned(), scale },
            series: vec![
                series("low", 0, Stroke::Solid, &[(1.0, 1.0), (2.0, 1.0)]),
                series("high", 0, Stroke::Dashed, &[(1.0, 2.0), (2.0, 3.0), (3.0, f64::NAN), (0.0, -1.0)]),
                series("none", 1, Stroke::Solid, &[]),
            ],
        }
    }

    #[test]
    fn a_plot_is_well_formed() {
        for scale in
            [Scale::Linear, Scale::Logarithmic, Scale::Binary, Scale::Names(&["one", "two", "three"])]
        {
            let text = svg(&[example(scale)]);
            let mut reader = quick_xml::Reader::from_str(&text);
            let mut depth = 0;
            loop {
                match reader.read_event().unwrap() {
                    quick_xml::events::Event::Start(_) => depth += 1,
                    quick_xml::events::Event::End(_) => depth -= 1,
                    quick_xml::events::Event::Eof => break,
                    _ => (),
                }
            }
            assert_eq!(depth, 0);
            assert!(text.contains("a &lt; b &amp; c") && !text.contains("NaN") && !text.contains("inf"));
        }
    }

    #[test]
    fn points_that_an_axis_cannot_hold_are_left_out() {
        // Two lines of two points each, once drawn and once in the legend.
        assert_eq!(svg(&[example(Scale::Linear)]).matches("<circle").count(), 8);
    }

    #[test]
    fn the_legend_follows_the_ends_of_the_lines() {
        let mut plot = example(Scale::Linear);
        plot.series[1].points.truncate(2);
        let text = svg(&[plot]);
        let place = |name: &str| text.find(&format!(">{name}</text>"));
        assert!(place("high") < place("low"));
        assert_eq!(place("none"), None);
    }

    #[test]
    fn a_plot_of_nothing_has_axes() {
        let plot = Plot { series: Vec::new(), ..example(Scale::Logarithmic) };
        assert!(svg(&[plot]).contains("operations</text>"));
    }

    #[test]
    fn bars_stand_in_named_groups_in_their_order() {
        let mut plot = example(Scale::Linear);
        plot.x.scale = Scale::Names(&["first", "second"]);
        plot.series.iter_mut().for_each(|it| it.stroke = Stroke::Bars);
        plot.series[0].points = vec![(0.5, 1.0), (1.5, 2.0)];
        let text = svg(&[plot]);
        // One bar of `high` is beyond the last group; two bars are of the legend.
        assert_eq!(text.matches("class=\"bar\"").count(), 2 + 2 + 2);
        let place = |name: &str| text.find(&format!(">{name}</text>"));
        assert!(place("first").is_some() && place("first") < place("second"));
        assert!(place("low") < place("high"));
    }

    #[test]
    fn plots_stand_below_each_other() {
        let text = svg(&[example(Scale::Linear), example(Scale::Logarithmic)]);
        assert_eq!(text.matches("class=\"title\"").count(), 2);
        assert!(text.contains(&format!("<g transform=\"translate(0 {PLOT_HEIGHT_PX})\">")));
        assert!(text.contains(&format!("height=\"{}\"", 2.0 * PLOT_HEIGHT_PX)));
    }
}
