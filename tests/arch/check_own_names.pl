#!/usr/bin/env perl
# usage: check_own_names.pl ROOT
# Files that are compiled together (CMAKE_UNITY_BUILD) share one nameless namespace: a name of a file's own that its
# namespace's headers declare, too, would then be found first by its neighbours, who mean the header's, and silently. Such
# files are to be in a list of auspex_apart, or to call it otherwise. Prints those that are not; exit code 1 where there are any.
use strict;
use warnings;
use File::Find;

my $root = shift or die "usage: check_own_names.pl ROOT\n";
chdir $root or die "$root: $!\n";

# Names that a line declares where it begins with no blank: types, constants, functions.
sub declared {
    my ($line) = @_;
    return () if $line =~ m{^[\s/#\}]} || $line =~ /^$/;
    $line =~ s/^\[\[nodiscard\]\] //;
    return ($2) if $line =~ /^(struct|class|enum class|enum) (\w+)\b(?!;)/;
    return ($1) if $line =~ /^using (\w+) =/;
    return $line =~ /\b(k[A-Z]\w*)\b\s*[=\{\[]/g if $line =~ /\b(constexpr|const)\b[^(]*[=\{\[]/ && $line =~ /\bk[A-Z]\w*\s*[=\{\[]/;
    return ($1) if $line =~ /^[\w:<>, \*&\[\]]+?[ &\*](\w+)\(/ && $line !~ /^(return|TEST|using|template)\b/;
    return ();
}

my (%public, %own, %space_of, @apart);
find({no_chdir => 1, wanted => sub {
    my $file = $_;
    return if -d $file || $file !~ /\.(hpp|cpp)$|CMakeLists\.txt$/;
    open my $in, '<', $file or die "$file: $!\n";
    my @lines = <$in>;
    if ($file =~ /CMakeLists\.txt$/) {
        my ($folder) = $file =~ m{^(.*)/};
        push @apart, map { "$folder/$_" } map { split } join('', @lines) =~ /auspex_apart\(([^)]*)\)/g;
        return;
    }
    my ($space, $is_own) = ('', 0);
    for (@lines) {
        $space = $1 if /^namespace ([\w:]+) \{/;
        $is_own = 1 if /^namespace \{/;
        $is_own = 0 if m{^\}  // namespace$};
        for my $name (declared($_)) {
            $public{$space}{$name} = $file if $file =~ /\.hpp$/;
            $own{$file}{$name} = 1 if $file =~ /\.cpp$/ && $is_own;
        }
    }
    $space_of{$file} = $space;
}}, 'src', 'tests');

my %is_apart = map { $_ => 1 } @apart;
my $faults = 0;
for my $file (sort keys %own) {
    next if $is_apart{$file};
    my @parts = split /::/, $space_of{$file};
    for my $space (map { join '::', @parts[0 .. $_] } 0 .. $#parts) {
        for my $name (grep { exists $public{$space}{$_} } sort keys %{$own{$file}}) {
            print "$file: $name is its own, and of $public{$space}{$name}: list the file in auspex_apart or rename it\n";
            ++$faults;
        }
    }
}
exit($faults > 0);
